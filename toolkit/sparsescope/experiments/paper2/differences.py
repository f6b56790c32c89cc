"""Differences between this protocol and the paper's, for the page of results and docs/papers.md."""

from __future__ import annotations

DIFFERENCES = (
    "MNIST and 20 newsgroups do not come with the package; name them with --data. The bundled stand-ins are digits "
    "(8 × 8 pixels) and pydocs. CIFAR-10 and RCV1 are not measured: the first needs a library of convolutions, of the "
    "second only a sample can be had.",
    "Data's own training and test parts are used where there are such; of other data a quarter of each class is held "
    "out.",
    "The ridge of the fits is not in the paper: here 1e-8 on random features (their Σ̂ has trace 1), 1e-4 on raw ones "
    "(with a constant column), 1e-7 for the logistic loss (quick: 1e-6, 1e-4, 1e-5).",
    "The width s of random Fourier features is 3 times the median squared distance between training samples, after PCA "
    "to 50 dimensions. The paper states the median distance, in units that it leaves open; the factor was chosen on "
    "4000 features of MNIST, where 1 gives 2.11 % and 2 to 5 give 2.0 %.",
    "One draw of random features says little. Over ten draws of 4000 (50 components, λ = 1e-8, a factor in double "
    "precision) the linear fit errs on 1.96 % of MNIST's test images with a standard deviation of 0.10 (1.85 to "
    "2.17); the paper has 1.83 %. The ridge matters: of one draw 1e-10 and 1e-8 give 1.9 %, 1e-7 gives 2.07 % and "
    "1e-6 2.42 %. Pairs of cosine and sine in place of random phases give 1.99 % in place of 1.92 %, 30 components "
    "1.86 % in place of 1.91 %; with 2000 features no projection, 100 components and whitened components are worse "
    "(4.1 %, 3.1 % and 2.8 % in place of 2.5 %).",
    "Logistic fits take 50 steps of accelerated generalised least squares a stage (400 on raw features); the "
    "paper's are plain. Calibrated fits of Table 1 take 5 steps of calibrated least squares with squares and cubes "
    "(30 on raw features): on 4000 random features of MNIST the test error of one draw is 2.03 % after one step, "
    "1.67 after 5, 1.74 after 8 and 1.78 after 30, where .19 % of the training images are left wrong; a ridge of "
    "1e-7 stays at 1.72 and 1e-6 at 1.80. Calibrated stages have the predictions so far as features, as in the "
    "paper.",
    "The 1.1 % of the paper are not reached by stages of squared errors: with 1024 features a stage, one draw, "
    "double precision and λ = 1e-8, calibrated stages err on 1.53, 1.58 and 1.49 % of MNIST's test images after 24 "
    "stages at s = 1, 2 and a half times the median squared distance, and on 1.48, 1.57 and 1.47 % after 32. Other "
    "features after 24 stages: logistic units 1.53 % at the best of three scales, rectified linear ones 1.58 %, "
    "their squares 1.53 %, products of three projections 1.59 %. The kind of feature does not make the difference.",
    "Fig. 2: the other programs are given 2000 random features (quick: 200) as matrices in memory, ours make theirs on "
    "the fly. liblinear is run through scikit-learn: one-against-all SVM and logistic regression, and the multiclass "
    "method only with --quick, because it takes hours on dense features; the paper has six of its methods. What is not "
    "trained after 600 CPU seconds (quick: 6) is extrapolated and has no error. Vowpal Wabbit takes part where the "
    "package vowpalwabbit is installed: one against all, hinge loss, 10 passes.",
    "Text: words in at least 3 training documents, as the data set's scaling has them (tf-idf with unit rows), a ridge "
    "of 1e-4, batches of 500 words (at most a quarter of them), two passes, ordered anew in the second. The paper "
    "takes log term frequencies without unit rows and λ = 30 on sums, and 15 000 documents to train.",
    "Spectra: 3000 random Fourier features of width s = the median (quick: 600), and the words of text as they are. "
    "Where there are fewer than 1000 singular values the last one takes the 1000th's place (quick: 300 values).",
    "The condition proxy is, in the paper's words, the 2nd over the 1000th singular value of X. On 20 newsgroups "
    "(log term frequencies without unit rows) it is 11.9 here, the paper has 19.8; on tf-idf with unit rows it is "
    "about 4.6. On 12 000 images of MNIST it is 38.8 at s = the median, 98.8 at 3 and 358 at 20 times the median, "
    "far from the paper's 72 000. Its square, which is the ratio of eigenvalues of Σ̂, is 1500, 9800 and 128 000 "
    "there, and 55 000 at 10 times the median; but the squares on text are 141 and 21. The paper's two numbers do "
    "not seem to be of one kind.",
    "Theorem 1: multiclass logistic loss with a ridge of 1e-4, L = 1/2, on the raw features of at most 10 000 training "
    "samples. The paper draws no such figure.",
    "Times are CPU seconds on one thread, without compilation and without evaluation; the paper's are of MATLAB.",
)
