# One path of glmnet: Rscript glmnet_path.R FOLDER FAMILY TYPE ALPHA THRESHOLD
# FAMILY: binomial or multinomial, TYPE: grouped or ungrouped (multinomial), ALPHA: share of the l1 norm.
# FOLDER holds x.bin, i.bin, p.bin (CSC), shape.bin, y.bin and lambdas.bin (falling); writes W.bin (d x m for each lambda)
# into it and prints the processor and wall seconds of the call, the number of lambdas and the version.
suppressMessages({library(Matrix); library(glmnet)})
args <- commandArgs(trailingOnly = TRUE)
whole <- function(name) { path <- file.path(args[1], name); readBin(path, "integer", file.size(path) / 4, size = 4) }
real <- function(name) { path <- file.path(args[1], name); readBin(path, "double", file.size(path) / 8, size = 8) }
shape <- whole("shape.bin")
X <- new("dgCMatrix", x = real("x.bin"), i = whole("i.bin"), p = whole("p.bin"), Dim = shape)
if (length(X@x) > 0.5 * prod(shape)) X <- as.matrix(X)
y <- factor(whole("y.bin"))
began <- proc.time()
fit <- glmnet(X, y, family = args[2], type.multinomial = args[3], standardize = FALSE, intercept = FALSE,
              alpha = as.numeric(args[4]), lambda = real("lambdas.bin"), thresh = as.numeric(args[5]), maxit = 1e7)
spent <- proc.time() - began
last <- length(fit$lambda)
beta <- if (args[2] == "binomial") list(fit$beta) else fit$beta
out <- file(file.path(args[1], "W.bin"), "wb")
for (k in seq_len(last)) writeBin(as.numeric(vapply(beta, function(B) as.numeric(B[, k]), numeric(shape[2]))), out, size = 8)
close(out)
cat(spent[["user.self"]] + spent[["sys.self"]], spent[["elapsed"]], last, as.character(packageVersion("glmnet")), "\n")
