# Cross-validation of glmnet's grouped multinomial model: Rscript glmnet_cv.R FOLDER THRESHOLD
# FOLDER holds x.bin, i.bin, p.bin (CSC), shape.bin, y.bin, fold.bin and lambdas.bin; writes W.bin (d x m for each lambda),
# b.bin (m for each lambda) and wrong.bin (the mean share of wrong predictions for each lambda) into it and prints the
# processor seconds of the call, the number of lambdas that were fitted and the version of the package.
suppressMessages({library(Matrix); library(glmnet)})
args <- commandArgs(trailingOnly = TRUE)
whole <- function(name) { path <- file.path(args[1], name); readBin(path, "integer", file.size(path) / 4, size = 4) }
real <- function(name) { path <- file.path(args[1], name); readBin(path, "double", file.size(path) / 8, size = 8) }
put <- function(values, name) writeBin(as.numeric(values), file.path(args[1], name), size = 8)
shape <- whole("shape.bin")
X <- new("dgCMatrix", x = real("x.bin"), i = whole("i.bin"), p = whole("p.bin"), Dim = shape)
y <- factor(whole("y.bin"))
began <- proc.time()
found <- cv.glmnet(X, y, family = "multinomial", type.multinomial = "grouped", type.measure = "class", standardize = FALSE,
                   lambda = real("lambdas.bin"), foldid = whole("fold.bin"), thresh = as.numeric(args[2]), maxit = 1e6)
spent <- proc.time() - began
fit <- found$glmnet.fit
last <- length(fit$lambda)
put(vapply(seq_len(last), function(k) vapply(fit$beta, function(B) as.numeric(B[, k]), numeric(shape[2])),
           matrix(0, shape[2], length(fit$beta))), "W.bin")
put(fit$a0, "b.bin")
put(found$cvm, "wrong.bin")
cat(spent[["user.self"]] + spent[["sys.self"]], last, as.character(packageVersion("glmnet")), "\n")
