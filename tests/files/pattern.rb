sample written by RBio                                                 |sample  
             2             1             1             0
psa                        2             2             1             0
(40I2)          (40I2)                             
 1 2 2
 2
