"""Differences between this protocol and the paper's, one sentence each (docs/papers.md repeats them)."""

DIFFERENCES = (
    "RCV1 and Gisette do not come with the package; name what you have with --data (rcv1_ccat_small is a sample of "
    "1000 and 500 documents; MNIST's digits 4 and 9 are those that Gisette was made from). The bundled stand-ins are "
    "pydocs (its two largest classes) and digits (4 against 9).",
    "Numbers of samples are the paper's where there are at least three of them in the data, else a quarter, a half and "
    "all; always the first of one random order.",
    "The paper does not state its λ for the logistic loss; here it is 0.02 λ_max of the samples at hand.",
    "ε is the largest violation of a weight (the minimum-norm subgradient's largest entry), relative to that at zero "
    "weights; for Θ the largest norm of a row, relative to that of the best diagonal Θ.",
    "All methods are this package's: FISTA with line search, newGLMNET with the exact Hessian and two levels of "
    "shrinking, it and QUIC without the Gram matrix and the conjugate gradients that this package adds to them, LHAC "
    "with 10 pairs and half of the violated entries a step. The paper's LHAC was in MATLAB, its QUIC in C++; there it "
    "counts flops for that reason.",
    "Runs end after 120 CPU seconds (quick: 2); what was not reached by then is infinite in the tables.",
    "Of the covariances of Li and Toh only ER could be had (er692_covariance.npz, a matrix S). The others are "
    "correlations of the features of other sets, at most 1000 of the largest variance (quick: 150); positive values "
    "that span a factor of 100 are taken as logarithms (intensities of genes). Texts are left out.",
    "Both methods work on the connected components of |S_ij| > λ one by one, and start at the best diagonal Θ. The "
    "paper's methods see the whole matrix, which makes a coordinate step of QUIC cost O(p) with the whole p.",
    "Flops are those of coordinate steps alone, as in the paper: in a component of k features a look costs QUIC "
    "2k + 12 flops and a move 4k, LHAC with 10 pairs 52 and 41. Factorisations are not counted. The number of sweeps "
    "is each method's own: until the model is solved to a tenth, at most 10.",
    "Times are CPU seconds on one thread, without compilation.",
)
