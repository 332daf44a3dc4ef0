// The glue's Python half: modules, functions, and the conversions that pybind11's casters and torch's make.
#include <torch/csrc/Device.h>
#include <torch/csrc/Dtype.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/MemoryFormat.h>
#include <torch/csrc/autograd/python_variable.h>
#include <torch/csrc/utils/python_numbers.h>
#include <torch/csrc/utils/tensor_dtypes.h>
#include <kbl/abi.h>

#include <new>
#include <string>
#include <vector>

namespace {

PyObject* P(kbl_py o) { return static_cast<PyObject*>(o); }

struct Reference {
  explicit Reference(PyObject* o) : object(o) {}
  ~Reference() { Py_XDECREF(object); }
  Reference(const Reference&) = delete;
  PyObject* object;
};

// What a Python function object leads to: one C++ function, or several of one name.
struct Overloads {
  std::vector<const kbl_function*> functions;
  std::string name, doc;
  PyMethodDef method{};
};

struct Instance {
  PyObject_HEAD
  void* pointer;
};

const char capsule_name[] = "kbl.overloads";

Overloads* overloads_of(PyObject* capsule) {
  return static_cast<Overloads*>(PyCapsule_GetPointer(capsule, capsule_name));
}

// The arguments in the function's order, or false where they do not fit it.
bool arrange(const kbl_function& f, PyObject* const* given, Py_ssize_t positional, PyObject* names,
             std::vector<PyObject*>& out) {
  const auto keywords = names ? PyTuple_GET_SIZE(names) : 0;
  if (positional + keywords > f.count) return false;
  out.assign(static_cast<size_t>(f.count), nullptr);
  for (Py_ssize_t i = 0; i < positional; ++i) out[static_cast<size_t>(i)] = given[i];
  for (Py_ssize_t k = 0; k < keywords; ++k) {
    if (!f.names) return false;
    int at = 0;
    while (at < f.count && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, k), f.names[at]) != 0) ++at;
    if (at == f.count || out[static_cast<size_t>(at)]) return false;
    out[static_cast<size_t>(at)] = given[positional + k];
  }
  for (int i = 0; i < f.count; ++i) {
    auto& argument = out[static_cast<size_t>(i)];
    if (!argument) argument = P(f.defaults[i]);
    if (!argument) return false;
  }
  return true;
}

// What pybind11 makes of a C++ exception. Torch has told it about its own kinds.
void as_pybind_would(const std::exception_ptr& error) {
  auto set = [](PyObject* type, const std::exception& e) { PyErr_SetString(type, e.what()); };
  try {
    std::rethrow_exception(error);
  } catch (const c10::Error&) {
    torch::translate_exception_to_python(error);
  } catch (python_error& e) {
    e.restore();
  } catch (pybind11::error_already_set& e) {
    e.restore();
  } catch (const std::bad_alloc& e) {
    set(PyExc_MemoryError, e);
  } catch (const std::domain_error& e) {
    set(PyExc_ValueError, e);
  } catch (const std::invalid_argument& e) {
    set(PyExc_ValueError, e);
  } catch (const std::length_error& e) {
    set(PyExc_ValueError, e);
  } catch (const std::out_of_range& e) {
    set(PyExc_IndexError, e);
  } catch (const std::range_error& e) {
    set(PyExc_ValueError, e);
  } catch (const std::overflow_error& e) {
    set(PyExc_OverflowError, e);
  } catch (const std::exception& e) {
    set(PyExc_RuntimeError, e);
  } catch (...) {
    PyErr_SetString(PyExc_RuntimeError, "Caught an unknown exception!");
  }
}

void as_torch_would(const std::exception_ptr& error) {
  try {
    torch::translate_exception_to_python(error);
  } catch (...) {  // it passes on what is no std::exception
    as_pybind_would(error);
  }
}

// As torch's own wrapper: C++ warnings become Python's, which may be errors.
kbl_py with_warnings(const kbl_function& f, const kbl_py* arguments, bool convert) {
  torch::PyWarningHandler warnings;
  try {
    return f.call(&f, arguments, convert);
  } catch (...) {
    warnings.set_in_exception();
    throw;
  }
}

kbl_py run(const kbl_function& f, std::vector<PyObject*>& given, bool convert) {
  auto* arguments = reinterpret_cast<const kbl_py*>(given.data());
  try {
    return f.torch_errors ? with_warnings(f, arguments, convert) : f.call(&f, arguments, convert);
  } catch (...) {
    if (f.torch_errors) as_torch_would(std::current_exception());
    else as_pybind_would(std::current_exception());
    return nullptr;
  }
}

void refuse(const Overloads& all, PyObject* const* given, Py_ssize_t positional, PyObject* names) {
  const char* what = all.functions.front()->constructs ? "constructor" : "function";
  std::string text = all.name + "(): incompatible " + what + " arguments. The following argument types are supported:\n";
  int number = 0;
  for (auto* f : all.functions) text += "    " + std::to_string(++number) + ". (" + f->signature + ")\n";
  text += "\nInvoked with: ";
  const auto count = positional + (names ? PyTuple_GET_SIZE(names) : 0);
  for (Py_ssize_t i = 0; i < count; ++i) {
    if (i == positional) text += positional ? "; kwargs: " : "kwargs: ";
    else if (i) text += ", ";
    if (i >= positional) text += std::string(PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, i - positional))) + "=";
    Reference shown(PyObject_Repr(given[i]));
    const char* utf8 = shown.object ? PyUnicode_AsUTF8(shown.object) : nullptr;
    text += utf8 ? utf8 : "<repr raised Error>";
    PyErr_Clear();
  }
  PyErr_SetString(PyExc_TypeError, text.c_str());
}

// Several functions of one name are tried without conversions first, as pybind11 does.
kbl_py dispatch(const Overloads& all, PyObject* const* given, Py_ssize_t positional, PyObject* names) {
  std::vector<PyObject*> arguments;
  for (int pass = all.functions.size() > 1 ? 0 : 1; pass < 2; ++pass) {
    for (auto* f : all.functions) {
      if (!arrange(*f, given, positional, names, arguments)) continue;
      auto result = run(*f, arguments, pass == 1);
      if (result != kbl_mismatch) return result;
    }
  }
  refuse(all, given, positional, names);
  return nullptr;
}

PyObject* call(PyObject* self, PyObject* const* given, Py_ssize_t count, PyObject* names) {
  return P(dispatch(*overloads_of(self), given, count, names));
}

// Deletes the C++ object of an instance, if it has one.
void remove_object(PyObject* self) {
  auto& pointer = reinterpret_cast<Instance*>(self)->pointer;
  Reference held(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(self)), "__kbl_delete__"));
  auto* deleter = held.object ? PyCapsule_GetPointer(held.object, "kbl.delete") : nullptr;
  if (deleter && pointer) reinterpret_cast<void (*)(void*)>(deleter)(pointer);
  pointer = nullptr;
}

int construct(PyObject* self, PyObject* positional, PyObject* keywords) {
  Reference capsule(PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(self)), "__kbl_init__"));
  if (!capsule.object) {
    PyErr_Format(PyExc_TypeError, "%s: No constructor defined!", Py_TYPE(self)->tp_name);
    return -1;
  }
  std::vector<PyObject*> given;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(positional); ++i) given.push_back(PyTuple_GET_ITEM(positional, i));
  Reference names(PyTuple_New(keywords ? PyDict_Size(keywords) : 0));
  PyObject *key, *value;
  for (Py_ssize_t at = 0, i = 0; keywords && PyDict_Next(keywords, &at, &key, &value); ++i) {
    PyTuple_SET_ITEM(names.object, i, Py_NewRef(key));
    given.push_back(value);
  }
  void* made = dispatch(*overloads_of(capsule.object), given.data(), PyTuple_GET_SIZE(positional), names.object);
  if (!made) return -1;
  remove_object(self);
  reinterpret_cast<Instance*>(self)->pointer = made;
  return 0;
}

void destroy(PyObject* self) {
  auto* type = Py_TYPE(self);
  PyObject *error_type, *error, *traceback;
  PyErr_Fetch(&error_type, &error, &traceback);  // a constructor that failed has one set
  remove_object(self);
  PyErr_Restore(error_type, error, traceback);
  type->tp_free(self);
  Py_DECREF(type);
}

// What pybind11 takes for a vector beside sequences.
bool is_iterable_for_pybind(PyObject* o) {
  if (PyGen_Check(o) || PyAnySet_Check(o)) return true;
  const std::string name = Py_TYPE(o)->tp_name;
  return name == "dict_keys" || name == "dict_values" || name == "dict_items" || name == "map" || name == "zip";
}

bool as_index(PyObject* o, bool convert, Reference& out) {
  if (PyFloat_Check(o)) return false;
  if (!convert && !PyLong_Check(o) && !PyIndex_Check(o)) return false;
  out.object = PyNumber_Index(o);
  if (!out.object) {
    PyErr_Clear();
    if (!convert || !PyNumber_Check(o)) return false;
    out.object = PyNumber_Long(o);
  }
  if (!out.object) PyErr_Clear();
  return out.object != nullptr;
}

}  // namespace

extern "C" {
kbl_py kbl_py_module(const char* name) {
  auto* definition = new PyModuleDef{PyModuleDef_HEAD_INIT, name, nullptr, -1, nullptr, nullptr, nullptr, nullptr, nullptr};
  return PyModule_Create(definition);
}

kbl_py kbl_py_failed_import(kbl_py module, const char* why) {
  Py_XDECREF(P(module));
  PyErr_SetString(PyExc_ImportError, why);
  return nullptr;
}

void kbl_py_doc(kbl_py module, const char* doc) { PyModule_SetDocString(P(module), doc); }

void kbl_py_define(kbl_py owner, const kbl_function* f) {
  const bool is_class = PyType_Check(P(owner));
  const char* held_as = f->constructs ? "__kbl_init__" : f->name;
  Reference holder(PyObject_GetAttrString(P(owner), held_as));
  PyErr_Clear();
  PyObject* before = holder.object;
  if (before && PyInstanceMethod_Check(before)) before = PyInstanceMethod_GET_FUNCTION(before);
  if (before && PyCFunction_Check(before)) before = PyCFunction_GET_SELF(before);
  const bool known = before && PyCapsule_IsValid(before, capsule_name);
  auto* all = known ? overloads_of(before) : new Overloads;
  all->functions.push_back(f);
  all->name = f->name;
  all->doc += (all->doc.empty() ? "" : "\n\n") + all->name + "(" + f->signature + ")\n\n" + f->doc;
  all->method = {all->name.c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call)),
                 METH_FASTCALL | METH_KEYWORDS, all->doc.c_str()};
  if (known) return;
  Reference capsule(PyCapsule_New(all, capsule_name, nullptr));
  if (f->constructs) {
    PyObject_SetAttrString(P(owner), held_as, capsule.object);
    return;
  }
  Reference module(is_class ? nullptr : PyModule_GetNameObject(P(owner)));
  Reference function(PyCFunction_NewEx(&all->method, capsule.object, module.object));
  Reference bound(is_class ? PyInstanceMethod_New(function.object) : Py_NewRef(function.object));
  PyObject_SetAttrString(P(owner), f->name, bound.object);
}

kbl_py kbl_py_class(kbl_py module, const char* name, const char* doc, void (*deleter)(void*)) {
  auto* full = new std::string(std::string(PyModule_GetName(P(module))) + "." + name);
  PyType_Slot slots[] = {{Py_tp_init, reinterpret_cast<void*>(&construct)},
                         {Py_tp_new, reinterpret_cast<void*>(&PyType_GenericNew)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(&destroy)},
                         {Py_tp_doc, const_cast<char*>(doc)},
                         {0, nullptr}};
  PyType_Spec spec = {full->c_str(), sizeof(Instance), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HEAPTYPE | Py_TPFLAGS_BASETYPE, slots};
  auto* type = PyType_FromSpec(&spec);
  Reference held(PyCapsule_New(reinterpret_cast<void*>(deleter), "kbl.delete", nullptr));
  PyObject_SetAttrString(type, "__kbl_delete__", held.object);
  PyObject_SetAttrString(P(module), name, type);
  return type;
}
void kbl_py_property(kbl_py type, const char* name, const kbl_function* getter) {
  auto* all = new Overloads;
  all->functions.push_back(getter);
  all->name = name;
  all->method = {all->name.c_str(), reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call)),
                 METH_FASTCALL | METH_KEYWORDS, ""};
  Reference capsule(PyCapsule_New(all, capsule_name, nullptr));
  Reference function(PyCFunction_NewEx(&all->method, capsule.object, nullptr));
  Reference property(PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyProperty_Type), function.object));
  PyObject_SetAttrString(P(type), name, property.object);
}
void* kbl_py_pointer(kbl_py type, kbl_py object) {
  const bool fits = PyObject_TypeCheck(P(object), reinterpret_cast<PyTypeObject*>(type));
  return fits ? reinterpret_cast<Instance*>(object)->pointer : nullptr;
}

kbl_py kbl_py_none() { return Py_NewRef(Py_None); }
void kbl_py_release(kbl_py o) { Py_XDECREF(P(o)); }
bool kbl_py_is_none(kbl_py o) { return o == Py_None; }

bool kbl_py_tensor(kbl_py o, void** out) {
  if (!THPVariable_Check(P(o))) return false;
  at::Tensor t = THPVariable_Unpack(P(o));
  *out = t.defined() ? t.unsafeReleaseTensorImpl() : nullptr;
  return true;
}
bool kbl_py_bool(kbl_py o, bool convert, bool* out) {
  if (o == Py_True || o == Py_False) {
    *out = o == Py_True;
    return true;
  }
  if (!convert) return false;
  auto* number = Py_TYPE(P(o))->tp_as_number;
  const int value = o == Py_None ? 0 : number && number->nb_bool ? number->nb_bool(P(o)) : -1;
  if (value < 0) PyErr_Clear();
  *out = value == 1;
  return value >= 0;
}
bool kbl_py_int(kbl_py o, bool convert, int64_t* out) {
  Reference number(nullptr);
  if (!as_index(P(o), convert, number)) return false;
  *out = PyLong_AsLongLong(number.object);
  const bool failed = *out == -1 && PyErr_Occurred();
  if (failed) PyErr_Clear();
  return !failed;
}
bool kbl_py_size(kbl_py o, int64_t* out) {
  if (THPVariable_Check(P(o))) *out = THPVariable_Unpack(P(o)).item<int64_t>();
  else if (PyLong_Check(P(o))) *out = THPUtils_unpackLong(P(o));
  else return false;
  return true;
}
bool kbl_py_uint(kbl_py o, bool convert, uint64_t* out) {
  Reference number(nullptr);
  if (!as_index(P(o), convert, number)) return false;
  *out = PyLong_AsUnsignedLongLong(number.object);
  const bool failed = *out == static_cast<uint64_t>(-1) && PyErr_Occurred();
  if (failed) PyErr_Clear();
  return !failed;
}
bool kbl_py_float(kbl_py o, bool convert, double* out) {
  if (!convert && !PyFloat_Check(P(o))) return false;
  *out = PyFloat_AsDouble(P(o));
  if (*out != -1.0 || !PyErr_Occurred()) return true;
  PyErr_Clear();
  if (!convert || !PyNumber_Check(P(o))) return false;
  Reference number(PyNumber_Float(P(o)));
  if (number.object) *out = PyFloat_AsDouble(number.object);
  PyErr_Clear();
  return number.object != nullptr;
}
bool kbl_py_string(kbl_py o, const char** out, size_t* size) {
  Py_ssize_t length = 0;
  if (PyUnicode_Check(P(o))) {
    *out = PyUnicode_AsUTF8AndSize(P(o), &length);
  } else if (PyBytes_Check(P(o))) {
    char* text = nullptr;
    *out = PyBytes_AsStringAndSize(P(o), &text, &length) == 0 ? text : nullptr;
  } else if (PyByteArray_Check(P(o))) {
    *out = PyByteArray_AsString(P(o));
    length = PyByteArray_Size(P(o));
  }
  PyErr_Clear();
  *size = static_cast<size_t>(length);
  return *out != nullptr;
}
bool kbl_py_dtype(kbl_py o, int* out) {
  if (!THPDtype_Check(P(o))) return false;
  *out = static_cast<int>(reinterpret_cast<THPDtype*>(o)->scalar_type);
  return true;
}
bool kbl_py_device(kbl_py o, int* type, int* index) {
  if (!THPDevice_Check(P(o))) return false;
  const auto& device = reinterpret_cast<THPDevice*>(o)->device;
  *type = static_cast<int>(device.type());
  *index = device.index();
  return true;
}
bool kbl_py_memory_format(kbl_py o, int* out) {
  if (!THPMemoryFormat_Check(P(o))) return false;
  *out = static_cast<int>(reinterpret_cast<THPMemoryFormat*>(o)->memory_format);
  return true;
}
kbl_py* kbl_py_items(kbl_py o, bool exact, bool convert, kbl_py* holder, size_t* size) {
  const bool sequence = exact ? PyTuple_Check(P(o)) || PyList_Check(P(o))
                              : PySequence_Check(P(o)) && !PyUnicode_Check(P(o)) && !PyBytes_Check(P(o));
  const bool fits = sequence || (!exact && convert && is_iterable_for_pybind(P(o)));
  // A tuple of its own: Python code that runs while it is read cannot change it.
  auto* items = fits ? PySequence_Tuple(P(o)) : nullptr;
  if (!items) {
    PyErr_Clear();
    return nullptr;
  }
  static kbl_py none[1];
  *holder = items;
  *size = static_cast<size_t>(PyTuple_GET_SIZE(items));
  return *size ? reinterpret_cast<kbl_py*>(&PyTuple_GET_ITEM(items, 0)) : none;
}

kbl_py kbl_py_from_tensor(void* t) {
  static_assert(sizeof(at::Tensor) == sizeof(void*));
  return t ? THPVariable_Wrap(reinterpret_cast<const at::Tensor&>(t)) : Py_NewRef(Py_None);
}
kbl_py kbl_py_from_bool(bool v) { return PyBool_FromLong(v); }
kbl_py kbl_py_from_int(int64_t v) { return PyLong_FromLongLong(v); }
kbl_py kbl_py_from_uint(uint64_t v) { return PyLong_FromUnsignedLongLong(v); }
kbl_py kbl_py_from_float(double v) { return PyFloat_FromDouble(v); }
kbl_py kbl_py_from_string(const char* text, size_t size) {
  return PyUnicode_DecodeUTF8(text, static_cast<Py_ssize_t>(size), nullptr);
}
kbl_py kbl_py_from_dtype(int dtype) {
  return Py_NewRef(reinterpret_cast<PyObject*>(torch::getTHPDtype(static_cast<at::ScalarType>(dtype))));
}
kbl_py kbl_py_list(size_t size) { return PyList_New(static_cast<Py_ssize_t>(size)); }
kbl_py kbl_py_tuple(size_t size) { return PyTuple_New(static_cast<Py_ssize_t>(size)); }
void kbl_py_put(kbl_py sequence, size_t index, kbl_py item) {
  if (PyTuple_Check(P(sequence))) PyTuple_SET_ITEM(P(sequence), static_cast<Py_ssize_t>(index), P(item));
  else PyList_SET_ITEM(P(sequence), static_cast<Py_ssize_t>(index), P(item));
}
void* kbl_py_allow_threads() { return PyEval_SaveThread(); }
void kbl_py_end_allow_threads(void* state) { PyEval_RestoreThread(static_cast<PyThreadState*>(state)); }
void* kbl_py_gil() { return reinterpret_cast<void*>(static_cast<intptr_t>(PyGILState_Ensure())); }
void kbl_py_end_gil(void* state) {
  PyGILState_Release(static_cast<PyGILState_STATE>(reinterpret_cast<intptr_t>(state)));
}
}
