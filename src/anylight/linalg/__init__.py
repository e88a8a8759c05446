"""Linear systems on the masked grid: stencils, multigrid, conjugate gradients."""
