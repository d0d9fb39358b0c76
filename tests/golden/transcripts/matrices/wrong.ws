gen poisson2d 2 as P2

nonsense
list
