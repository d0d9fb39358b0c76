"""Large matrices as discretisers give them, by scikit-fem 12 (PyPI).

Usage: discretise.py FOLDER [--size FACTOR] [--warpspy PROGRAM] [NAME...]

Writes FOLDER/NAME.npz for each matrix that is not there yet; with PROGRAM, also NAME.wsb and NAME-locality.wsb, the same
matrix in the order that `reorder locality` chooses, and what it says in NAME.txt. FACTOR multiplies the cells along an edge of the mesh. The matrices
are made in processes of their own, side by side. Ends with status 77 and a line if scikit-fem is not installed."""
import argparse
import multiprocessing
import os
import subprocess
import sys

try:
    import numpy as np
    import scipy.sparse as sp
    import skfem
    from skfem.helpers import ddot, div, dot, grad, jump
except ImportError as e:
    print(f"# large matrices: skipped, {e.name} is not installed (pip install scikit-fem)")
    sys.exit(77)


REFINED = 2  # new nodes are numbered after those of the coarser mesh


def edge(n):
    return np.linspace(0, 1, max(1, round(n / 2**REFINED)) + 1)


def tetrahedra(n):
    """A cube with about n cells along an edge, from a coarser mesh. Nodes inside move by up to a fifth of a cell."""
    mesh = skfem.MeshTet.init_tensor(*[edge(n)] * 3).refined(REFINED)
    p = mesh.p.copy()
    inside = ((p > 0) & (p < 1)).all(axis=0)
    p[:, inside] += np.random.default_rng(1).uniform(-0.2 / n, 0.2 / n, (3, inside.sum()))
    return skfem.MeshTet(p, mesh.t)


def triangles(n):
    """A square of about n x n cells, each cut into two triangles, from a coarser mesh."""
    return skfem.MeshTri.init_tensor(*[edge(n)] * 2).refined(REFINED)


def elasticity(n):
    """Linear elasticity on tetrahedra, piecewise linear: the unknowns of one component after those of the other."""
    basis = skfem.Basis(tetrahedra(n), skfem.ElementTetP1(), intorder=0)
    blocks = [[None] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(3):
            @skfem.BilinearForm
            def form(u, v, w):
                value = 1.0 * grad(u)[j] * grad(v)[i] + 0.5 * grad(u)[i] * grad(v)[j]
                return value + 0.5 * dot(grad(u), grad(v)) if i == j else value
            blocks[i][j] = form.assemble(basis)
    return sp.block_array(blocks, format="csr")


def elasticity_by_node(n):
    """The same; the three unknowns of a node stand side by side."""
    A = elasticity(n)
    order = np.arange(A.shape[0]).reshape(3, -1).T.ravel()
    return A[order][:, order]


def stokes(n):
    """Stokes on triangles, quadratic velocities and linear pressures (Taylor and Hood)."""
    mesh = triangles(n)
    u = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTriP2()), intorder=3)
    p = u.with_element(skfem.ElementTriP1())
    A = skfem.BilinearForm(lambda u, v, w: ddot(grad(u), grad(v))).assemble(u)
    B = skfem.BilinearForm(lambda u, q, w: -div(u) * q).assemble(u, p)
    return sp.block_array([[A, B.T], [B, None]], format="csr")


def nedelec(n):
    """curl curl u + u on tetrahedra, lowest-order edge elements."""
    basis = skfem.Basis(tetrahedra(n), skfem.ElementTetN0(), intorder=2)
    return skfem.BilinearForm(lambda u, v, w: dot(u.curl, v.curl) + dot(u, v)).assemble(basis)


def discontinuous(n):
    """Poisson on triangles by a discontinuous Galerkin method with interior penalty, quadratic."""
    mesh, element = triangles(n), skfem.ElementTriDG(skfem.ElementTriP2())
    cells = skfem.Basis(mesh, element, intorder=2)
    sides = [skfem.InteriorFacetBasis(mesh, element, side=s, intorder=4) for s in (0, 1)]

    @skfem.BilinearForm
    def penalty(u, v, w):
        ju, jv = jump(w, u, v)
        mean = 0.5 * (dot(grad(u), w.n) * jv + dot(grad(v), w.n) * ju)
        return 20 / w.h * ju * jv - mean

    A = skfem.BilinearForm(lambda u, v, w: dot(grad(u), grad(v))).assemble(cells)
    return A + skfem.asm(penalty, sides, sides)


def cubic(n):
    """Poisson on triangles, cubic."""
    basis = skfem.Basis(triangles(n), skfem.ElementTriP3(), intorder=4)
    return skfem.BilinearForm(lambda u, v, w: dot(grad(u), grad(v))).assemble(basis)


# the function, and the cells along an edge
MATRICES = {"elasticity": (elasticity, 60), "elasticity-by-node": (elasticity_by_node, 60), "stokes": (stokes, 300),
            "nedelec": (nedelec, 60), "discontinuous": (discontinuous, 300), "cubic": (cubic, 400)}


def write(name, arguments):
    make, cells = MATRICES[name]
    path = os.path.join(arguments.folder, name)
    if not os.path.exists(path + ".npz"):
        A = sp.csr_array(make(max(2, round(cells * arguments.size))))
        A.sum_duplicates()
        A.eliminate_zeros()
        sp.save_npz(path + ".part.npz", A, compressed=False)
        os.replace(path + ".part.npz", path + ".npz")
    if arguments.warpspy and not os.path.exists(path + "-locality.wsb"):
        lines = f"load {path}.npz as A; save {path}.wsb force; reorder locality as B; save {path}-locality.wsb force"
        with open(path + ".txt", "w", encoding="utf-8") as orders:
            subprocess.run([arguments.warpspy, "--allow", "files", "-c", lines], stdout=orders, check=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--size", type=float, default=1)
    parser.add_argument("--warpspy")
    parser.add_argument("name", nargs="*")
    arguments = parser.parse_args()
    os.makedirs(arguments.folder, exist_ok=True)
    workers = [multiprocessing.Process(target=write, args=(name, arguments)) for name in arguments.name or MATRICES]
    for w in workers:
        w.start()
    for w in workers:
        w.join()
    return int(any(w.exitcode for w in workers))


if __name__ == "__main__":
    sys.exit(main())
