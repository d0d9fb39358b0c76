title
rhsrs SPARSE   r             5             2             3
(3I2) (3I2) (3F5.1)
 1 3 4
 3 4 5
  3.0  4.0  1.0
