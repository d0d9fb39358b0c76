sample written by RBio                                                 |sample  
             3             1             1             1
cua                        2             2             2             0
(40I2)          (40I2)          (8E9.1)             
 1 2 3
 2 1
  1.0E+00  3.0E+00  2.5E+00 -4.0E+00
