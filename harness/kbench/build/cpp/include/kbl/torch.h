// Everything that torch/extension.h stands for.
#pragma once
#include <kbl/dispatch.h>
#include <kbl/math.h>
#include <kbl/ops.h>
#include <kbl/parallel.h>
#if !defined(__CUDACC__) || defined(KBL_WANTS_BINDING_IN_CUDA)
#include <kbl/bind.h>
#endif
