title
rhsrd FULL_R2  r             3             2             6
(3F5.1)
  1.0  0.0  3.0
  4.0  5.0  6.0
