# One fit of glmnet's grouped multinomial model: Rscript glmnet_fit.R FOLDER THRESHOLD LAMBDAS-FILE
# FOLDER holds x.bin, i.bin, p.bin (CSC), shape.bin and y.bin; writes W.bin (d x m, column after column) into it and prints
# the processor seconds of the call, its wall seconds and the number of lambdas that were fitted.
suppressMessages({library(Matrix); library(glmnet)})
args <- commandArgs(trailingOnly = TRUE)
whole <- function(name) { path <- file.path(args[1], name); readBin(path, "integer", file.size(path) / 4, size = 4) }
real <- function(name) { path <- file.path(args[1], name); readBin(path, "double", file.size(path) / 8, size = 8) }
shape <- whole("shape.bin")
X <- new("dgCMatrix", x = real("x.bin"), i = whole("i.bin"), p = whole("p.bin"), Dim = shape)
y <- factor(whole("y.bin"))
lambdas <- real(args[3])
began <- proc.time()
fit <- glmnet(X, y, family = "multinomial", type.multinomial = "grouped", standardize = FALSE, intercept = FALSE,
              lambda = lambdas, thresh = as.numeric(args[2]), maxit = 1e6)
spent <- proc.time() - began
last <- length(fit$lambda)
W <- vapply(fit$beta, function(B) as.numeric(B[, last]), numeric(shape[2]))
writeBin(as.numeric(W), file.path(args[1], "W.bin"), size = 8)
cat(spent[["user.self"]] + spent[["sys.self"]], spent[["elapsed"]], last, as.character(packageVersion("glmnet")), "\n")
