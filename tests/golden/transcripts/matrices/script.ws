# three changes and a table
gen poisson2d 4 2 as P42
transpose P42
stats P42-t
!echo no
list
