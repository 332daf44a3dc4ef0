// What of pybind11 a solution uses: modules, functions with names and defaults, small classes. No Python header is read;
// objects are only passed through to the glue.
#pragma once
#include <kbl/ops.h>

#pragma GCC visibility push(hidden)

namespace pybind11 {
inline namespace kbl1 {

// A borrowed sequence's items, as long as it lives.
struct Items {
  Items(kbl_py object, bool exact, bool convert) : items(kbl_py_items(object, exact, convert, &holder, &size)) {}
  ~Items() {
    if (holder) kbl_py_release(holder);
  }
  kbl_py holder = nullptr;
  size_t size = 0;
  kbl_py* items;
};

// How an argument is read and a result is made. Types without a caster do not compile here.
template <class T, class = void>
struct Caster;

template <class T>
struct Simple {
  T value{};
  T& get() { return value; }
};

template <>
struct Caster<at::Tensor> : Simple<at::Tensor> {
  static std::string name() { return "torch.Tensor"; }
  bool load(kbl_py o, bool) {
    void* owned = nullptr;
    if (!kbl_py_tensor(o, &owned)) return false;
    value = at::impl::take(owned);
    return true;
  }
  static kbl_py cast(const at::Tensor& v) { return kbl_py_from_tensor(v.kbl_handle()); }
};

template <>
struct Caster<bool> : Simple<bool> {
  static std::string name() { return "bool"; }
  bool load(kbl_py o, bool convert) { return kbl_py_bool(o, convert, &value); }
  static kbl_py cast(bool v) { return kbl_py_from_bool(v); }
};

template <class T>
struct Caster<T, std::enable_if_t<std::is_integral_v<T> && !std::is_same_v<T, bool> && !std::is_same_v<T, char>>>
    : Simple<T> {
  static std::string name() { return "int"; }
  bool load(kbl_py o, bool convert) {
    std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t> wide = 0;
    bool read;
    if constexpr (std::is_signed_v<T>) read = kbl_py_int(o, convert, &wide);
    else read = kbl_py_uint(o, convert, &wide);
    this->value = static_cast<T>(wide);
    return read && static_cast<decltype(wide)>(this->value) == wide;
  }
  static kbl_py cast(T v) {
    if constexpr (std::is_signed_v<T>) return kbl_py_from_int(v);
    else return kbl_py_from_uint(v);
  }
};

template <class T>
struct Caster<T, std::enable_if_t<std::is_floating_point_v<T>>> : Simple<T> {
  static std::string name() { return "float"; }
  bool load(kbl_py o, bool convert) {
    double wide = 0;
    bool read = kbl_py_float(o, convert, &wide);
    this->value = static_cast<T>(wide);
    return read;
  }
  static kbl_py cast(T v) { return kbl_py_from_float(static_cast<double>(v)); }
};

template <>
struct Caster<std::string> : Simple<std::string> {
  static std::string name() { return "str"; }
  bool load(kbl_py o, bool) {
    const char* text = nullptr;
    size_t size = 0;
    if (!kbl_py_string(o, &text, &size)) return false;
    value.assign(text, size);
    return true;
  }
  static kbl_py cast(const std::string& v) { return kbl_py_from_string(v.data(), v.size()); }
};

// Its text lives as long as the argument does.
template <>
struct Caster<std::string_view> : Simple<std::string_view> {
  static std::string name() { return "str"; }
  bool load(kbl_py o, bool) {
    const char* text = nullptr;
    size_t size = 0;
    if (!kbl_py_string(o, &text, &size)) return false;
    value = std::string_view(text, size);
    return true;
  }
  static kbl_py cast(std::string_view v) { return kbl_py_from_string(v.data(), v.size()); }
};

template <>
struct Caster<const char*> {
  static std::string name() { return "str"; }
  static kbl_py cast(const char* v) { return v ? kbl_py_from_string(v, std::strlen(v)) : kbl_py_none(); }
};

template <>
struct Caster<at::ScalarType> : Simple<at::ScalarType> {
  static std::string name() { return "torch.dtype"; }
  bool load(kbl_py o, bool) {
    int raw = 0;
    if (!kbl_py_dtype(o, &raw)) return false;
    value = static_cast<at::ScalarType>(raw);
    return true;
  }
  static kbl_py cast(at::ScalarType v) { return kbl_py_from_dtype(static_cast<int>(v)); }
};

template <>
struct Caster<at::MemoryFormat> : Simple<at::MemoryFormat> {
  static std::string name() { return "torch.memory_format"; }
  bool load(kbl_py o, bool) {
    int raw = 0;
    if (!kbl_py_memory_format(o, &raw)) return false;
    value = static_cast<at::MemoryFormat>(raw);
    return true;
  }
};

template <>
struct Caster<at::Device> {
  static std::string name() { return "torch.device"; }
  at::Device value = at::Device(at::kCPU);
  at::Device& get() { return value; }
  bool load(kbl_py o, bool) {
    int type = 0, index = 0;
    if (!kbl_py_device(o, &type, &index)) return false;
    value = at::Device(static_cast<at::DeviceType>(type), static_cast<at::DeviceIndex>(index));
    return true;
  }
};

template <>
struct Caster<at::IntArrayRef> {
  static std::string name() { return "Tuple[int, ...]"; }
  std::vector<int64_t> numbers;
  at::IntArrayRef value;
  at::IntArrayRef& get() { return value; }
  bool load(kbl_py o, bool convert) {
    Items items(o, true, false);
    if (!items.items) return false;
    numbers.resize(items.size);
    for (size_t i = 0; i < items.size; ++i) {
      if (!kbl_py_size(items.items[i], &numbers[i])) return false;
    }
    value = numbers;
    return true;
  }
  static kbl_py cast(at::IntArrayRef v) {
    auto tuple = kbl_py_tuple(v.size());
    for (size_t i = 0; i < v.size(); ++i) kbl_py_put(tuple, i, kbl_py_from_int(v[i]));
    return tuple;
  }
};

// Puts the items into a new list or tuple; null, with Python's error set, where one of them cannot be made.
template <class... I>
kbl_py filled(kbl_py sequence, I... items) {
  size_t index = 0;
  if (((items == nullptr) || ...)) {
    (kbl_py_release(items), ...);
    kbl_py_release(sequence);
    return nullptr;
  }
  (kbl_py_put(sequence, index++, items), ...);
  return sequence;
}
template <class List, class Cast>
kbl_py listed(const List& v, Cast cast) {
  auto list = kbl_py_list(v.size());
  for (size_t i = 0; i < v.size(); ++i) {
    auto item = cast(v[i]);
    if (!item) {
      kbl_py_release(list);
      return nullptr;
    }
    kbl_py_put(list, i, item);
  }
  return list;
}

template <class T>
struct Caster<std::vector<T>> : Simple<std::vector<T>> {
  static std::string name() { return "list[" + Caster<T>::name() + "]"; }
  bool load(kbl_py o, bool convert) {
    Items items(o, false, convert);
    if (!items.items) return false;
    this->value.clear();
    for (size_t i = 0; i < items.size; ++i) {
      Caster<T> item;
      if (!item.load(items.items[i], convert)) return false;
      this->value.push_back(std::move(item.get()));
    }
    return true;
  }
  static kbl_py cast(const std::vector<T>& v) {
    return listed(v, [](const T& item) { return Caster<T>::cast(item); });
  }
};

template <class T, size_t N>
struct Caster<std::array<T, N>> : Simple<std::array<T, N>> {
  static std::string name() { return "list[" + Caster<T>::name() + "]"; }
  bool load(kbl_py o, bool convert) {
    Items items(o, false, convert);
    if (!items.items || items.size != N) return false;
    for (size_t i = 0; i < N; ++i) {
      Caster<T> item;
      if (!item.load(items.items[i], convert)) return false;
      this->value[i] = std::move(item.get());
    }
    return true;
  }
  static kbl_py cast(const std::array<T, N>& v) {
    return listed(v, [](const T& item) { return Caster<T>::cast(item); });
  }
};

template <class T>
struct Caster<std::optional<T>> : Simple<std::optional<T>> {
  static std::string name() { return "Optional[" + Caster<T>::name() + "]"; }
  bool load(kbl_py o, bool convert) {
    if (kbl_py_is_none(o)) return true;
    Caster<T> inner;
    if (!inner.load(o, convert)) return false;
    this->value = std::move(inner.get());
    return true;
  }
  static kbl_py cast(const std::optional<T>& v) { return v ? Caster<T>::cast(*v) : kbl_py_none(); }
};

template <class... T>
struct Caster<std::tuple<T...>> : Simple<std::tuple<T...>> {
  static std::string name() {
    std::string all;
    ((all += (all.empty() ? "" : ", ") + Caster<T>::name()), ...);
    return "tuple[" + all + "]";
  }
  static kbl_py cast(const std::tuple<T...>& v) { return each(v, std::index_sequence_for<T...>()); }

 private:
  template <size_t... I>
  static kbl_py each(const std::tuple<T...>& v, std::index_sequence<I...>) {
    return filled(kbl_py_tuple(sizeof...(T)), Caster<T>::cast(std::get<I>(v))...);
  }
};

template <class A, class B>
struct Caster<std::pair<A, B>> {
  static std::string name() { return Caster<std::tuple<A, B>>::name(); }
  static kbl_py cast(const std::pair<A, B>& v) { return Caster<std::tuple<A, B>>::cast({v.first, v.second}); }
};

// The Python type of a class that the solution registered.
template <class T>
struct Registered {
  static inline kbl_py type = nullptr;
};

// Only a solution's own classes: a type of a library may have a caster in torch's headers that is missing here.
template <class T>
constexpr bool is_own() {
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr auto name = text.substr(text.find("T = ") + 4);
  return std::is_class_v<T> && name.substr(0, 5) != "std::" && name.substr(0, 5) != "c10::" &&
         name.substr(0, 4) != "at::" && name.substr(0, 7) != "torch::" && name.substr(0, 10) != "pybind11::";
}

template <class T, bool nullable>
struct Object {
  static_assert(is_own<T>(), "no caster for this type");
  static std::string name() { return "object"; }
  T* pointer = nullptr;
  bool load(kbl_py o, bool) {
    if (nullable && kbl_py_is_none(o)) return true;
    pointer = Registered<T>::type ? static_cast<T*>(kbl_py_pointer(Registered<T>::type, o)) : nullptr;
    return pointer != nullptr;
  }
  T& get() { return *pointer; }
};

struct none {};
struct arg {
  explicit arg(const char* name) : name(name) {}
  template <class T>
  arg& operator=(const T& v) & = delete;
  template <class T>
  struct valued;
  template <class T>
  auto operator=(T&& v) &&;
  const char* name;
};
template <class T>
struct arg::valued {
  const char* name;
  T value;
};
template <class T>
auto arg::operator=(T&& v) && {
  return valued<std::decay_t<T>>{name, std::forward<T>(v)};
}
namespace literals {
inline arg operator""_a(const char* name, size_t) { return arg(name); }
}  // namespace literals

inline kbl_py cast_default(none) { return kbl_py_none(); }
inline kbl_py cast_default(std::nullopt_t) { return kbl_py_none(); }
inline kbl_py cast_default(const char* v) { return Caster<const char*>::cast(v); }
template <class T>
kbl_py cast_default(const T& v) { return Caster<T>::cast(v); }

// Lets other Python threads run while it lives.
class gil_scoped_release {
 public:
  gil_scoped_release() : state_(kbl_py_allow_threads()) {}
  ~gil_scoped_release() { kbl_py_end_allow_threads(state_); }
  gil_scoped_release(const gil_scoped_release&) = delete;

 private:
  void* state_;
};
class gil_scoped_acquire {
 public:
  gil_scoped_acquire() : state_(kbl_py_gil()) {}
  ~gil_scoped_acquire() { kbl_py_end_gil(state_); }
  gil_scoped_acquire(const gil_scoped_acquire&) = delete;

 private:
  void* state_;
};
template <class... G>
struct call_guard;
template <>
struct call_guard<> {
  struct type {};
};
template <class G, class... More>
struct call_guard<G, More...> {
  struct type {
    G guard{};
    typename call_guard<More...>::type next{};
  };
};

template <class T, class = void>
struct HasCaster : std::false_type {};
template <class T>
struct HasCaster<T, std::void_t<decltype(Caster<T>::name())>> : std::true_type {};
template <class T>
constexpr bool is_object = !HasCaster<std::decay_t<T>>::value;
template <class T>
using Read = std::conditional_t<is_object<T>,
                                Object<std::remove_const_t<std::remove_pointer_t<std::decay_t<T>>>,
                                       std::is_pointer_v<std::decay_t<T>>>,
                                Caster<std::decay_t<T>>>;

// A function as Python sees it. It lives as long as the process, as pybind11's do.
template <class R, class... A>
struct Function {
  template <class F>
  struct Record : kbl_function {
    explicit Record(F f) : kbl_function{}, function(std::move(f)) {}
    F function;
    std::string name_text, doc_text, signature_text;
    std::vector<const char*> argument_names;
    std::vector<kbl_py> argument_defaults;
  };
  template <class F, class Guard, bool constructs>
  static kbl_py call(const kbl_function* self, const kbl_py* arguments, bool convert) {
    return run<F, Guard, constructs>(static_cast<const Record<F>*>(self)->function, arguments, convert,
                                     std::index_sequence_for<A...>());
  }

 private:
  template <class F, class Guard, bool constructs, size_t... I>
  static kbl_py run(const F& f, const kbl_py* arguments, bool convert, std::index_sequence<I...>) {
    std::tuple<Read<A>...> readers;
    if (!(std::get<I>(readers).load(arguments[I], convert) && ...)) return kbl_mismatch;
    if constexpr (std::is_void_v<R>) {
      {
        [[maybe_unused]] Guard guard{};
        f(pass<A>(std::get<I>(readers))...);
      }
      return kbl_py_none();
    } else if constexpr (constructs) {
      return f(pass<A>(std::get<I>(readers))...);
    } else {
      auto&& result = [&]() -> R {
        [[maybe_unused]] Guard guard{};
        return f(pass<A>(std::get<I>(readers))...);
      }();
      return Caster<std::decay_t<R>>::cast(result);
    }
  }
  template <class T, class C>
  static decltype(auto) pass(C& reader) {
    if constexpr (std::is_pointer_v<std::decay_t<T>> && is_object<T>) return static_cast<T>(reader.pointer);
    else if constexpr (is_object<T> && !std::is_reference_v<T>) return T(reader.get());  // Python keeps its own
    else if constexpr (std::is_lvalue_reference_v<T>) return static_cast<T>(reader.get());
    else return std::move(reader.get());
  }
};

template <class F>
struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A>
struct Signature<R (*)(A...)> {
  using type = Function<R, A...>;
};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> {
  using type = Function<R, A...>;
};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...)> {
  using type = Function<R, A...>;
};

template <class F>
struct Wrapped {
  F function;
};

namespace impl {
struct Extras {
  std::string doc;
  std::vector<const char*> names;
  std::vector<kbl_py> defaults;
};
inline void add(Extras& e, const char* doc) { e.doc = doc; }
inline void add(Extras& e, const std::string& doc) { e.doc = doc; }
inline void add(Extras& e, const arg& a) {
  e.names.push_back(a.name);
  e.defaults.push_back(nullptr);
}
template <class T>
void add(Extras& e, const arg::valued<T>& a) {
  e.names.push_back(a.name);
  e.defaults.push_back(cast_default(a.value));
}
template <class... G>
void add(Extras&, const call_guard<G...>&) {}

template <class... E>
struct GuardOf : call_guard<> {};
template <class... G, class... E>
struct GuardOf<call_guard<G...>, E...> : call_guard<G...> {};
template <class First, class... E>
struct GuardOf<First, E...> : GuardOf<E...> {};

template <class E>
constexpr int guards_in = 0;
template <class... G>
constexpr int guards_in<call_guard<G...>> = 1;
template <class E>
constexpr size_t names_in = 0;
template <>
inline constexpr size_t names_in<arg> = 1;
template <class T>
constexpr size_t names_in<arg::valued<T>> = 1;

template <bool constructs, bool has_self = false, class F, class R, class... A, class... E>
kbl_function* record(Function<R, A...>, const char* name, F f, bool torch_errors, const E&... extras) {
  using Make = Function<R, A...>;
  Extras e;
  if (has_self) add(e, arg("self"));
  (add(e, extras), ...);
  constexpr size_t count = sizeof...(A);
  constexpr size_t named = (names_in<E> + ... + 0);
  static_assert((guards_in<E> + ... + 0) <= 1, "one call_guard a function");
  static_assert(named == 0 || named + (has_self ? 1 : 0) == count, "as many names as arguments");
  if (e.names.size() == (has_self ? 1 : 0)) {
    e.names.clear();
    e.defaults.clear();
  }
  e.defaults.resize(count, nullptr);
  auto* r = new typename Make::template Record<F>(std::move(f));
  std::vector<std::string> types{Read<A>::name()...};
  r->name_text = name;
  r->doc_text = e.doc;
  for (size_t i = 0; i < count; ++i) {
    r->signature_text += (i ? ", " : "") + (e.names.empty() ? "arg" + std::to_string(i) : e.names[i]) + ": " + types[i];
  }
  r->argument_names = e.names;
  r->argument_defaults = e.defaults;
  r->name = r->name_text.c_str();
  r->doc = r->doc_text.c_str();
  r->signature = r->signature_text.c_str();
  r->count = static_cast<int>(count);
  r->names = r->argument_names.empty() ? nullptr : r->argument_names.data();
  r->defaults = r->argument_defaults.data();
  r->torch_errors = torch_errors;
  r->constructs = constructs;
  r->call = &Make::template call<F, typename GuardOf<E...>::type, constructs>;
  return r;
}
}  // namespace impl

class module_ {
 public:
  explicit module_(kbl_py object) : object_(object) {}
  template <class F, class... E>
  module_& def(const char* name, F f, const E&... extras) {
    kbl_py_define(object_, impl::record<false>(typename Signature<F>::type(), name, f, false, extras...));
    return *this;
  }
  template <class F, class... E>
  module_& def(const char* name, Wrapped<F> f, const E&... extras) {
    kbl_py_define(object_,
                  impl::record<false>(typename Signature<F>::type(), name, f.function, true, extras...));
    return *this;
  }
  struct Doc {
    kbl_py object;
    void operator=(const char* text) { kbl_py_doc(object, text); }
  };
  Doc doc() { return {object_}; }
  kbl_py kbl_object() const { return object_; }

 private:
  kbl_py object_;
};
using module = module_;

template <class... A>
struct init {};

template <class T, class... Options>
class class_ {
 public:
  static_assert(sizeof...(Options) == 0, "neither bases nor holders");
  class_(module_& m, const char* name, const char* doc = "")
      : type_(kbl_py_class(m.kbl_object(), name, doc, [](void* p) { delete static_cast<T*>(p); })) {
    TORCH_CHECK(!Registered<T>::type, "generic_type: type \"", name, "\" is already registered!");
    Registered<T>::type = type_;
  }
  template <class... A, class... E>
  class_& def(init<A...>, const E&... extras) {
    auto make = [](A... a) -> kbl_py { return new T(std::forward<A>(a)...); };
    kbl_py_define(type_, impl::record<true>(Function<kbl_py, A...>(), "__init__", make, false, extras...));
    return *this;
  }
  template <class R, class... A, class... E>
  class_& def(const char* name, R (T::*f)(A...), const E&... extras) {
    return method<R, T&, A...>(name, [f](T& self, A... a) -> R { return (self.*f)(std::forward<A>(a)...); }, extras...);
  }
  template <class R, class... A, class... E>
  class_& def(const char* name, R (T::*f)(A...) const, const E&... extras) {
    return method<R, T&, A...>(name, [f](T& self, A... a) -> R { return (self.*f)(std::forward<A>(a)...); }, extras...);
  }
  template <class R, class... E>
  class_& def_property_readonly(const char* name, R (T::*f)() const, const E&...) {
    return property<R>(name, [f](T& self) -> R { return (self.*f)(); });
  }
  template <class F, class... E>
  class_& def_property_readonly(const char* name, F f, const E&...) {
    return property<decltype(f(std::declval<T&>()))>(name, [f](T& self) { return f(self); });
  }
  template <class V, class... E>
  class_& def_readonly(const char* name, V T::*member, const E&...) {
    return property<V>(name, [member](T& self) -> V { return self.*member; });
  }
  template <class F, class... E>
  class_& def(const char* name, F f, const E&... extras) {
    kbl_py_define(type_, impl::record<false, true>(typename Signature<F>::type(), name, f, false, extras...));
    return *this;
  }

 private:
  template <class R, class... A, class F, class... E>
  class_& method(const char* name, F f, const E&... extras) {
    kbl_py_define(type_, impl::record<false, true>(Function<R, A...>(), name, f, false, extras...));
    return *this;
  }
  template <class R, class F>
  class_& property(const char* name, F f) {
    kbl_py_property(type_, name, impl::record<false, true>(Function<R, T&>(), name, f, false));
    return *this;
  }
  kbl_py type_;
};

}  // namespace kbl1
}  // namespace pybind11

namespace py = pybind11;

namespace torch {
inline namespace kbl1 {
template <class R, class... A>
pybind11::Wrapped<R (*)(A...)> wrap_pybind_function(R (*f)(A...)) { return {f}; }
}  // namespace kbl1
}  // namespace torch

#pragma GCC visibility pop

#define KBL_TEXT_OF(x) #x
#define KBL_TEXT(x) KBL_TEXT_OF(x)
#define KBL_JOIN_OF(a, b) a##b
#define KBL_JOIN(a, b) KBL_JOIN_OF(a, b)
#define PYBIND11_MODULE(name, variable, ...)                                                  \
  static void KBL_JOIN(kbl_init_, name)(::pybind11::module_&);                                \
  extern "C" __attribute__((visibility("default"))) void* KBL_JOIN(PyInit_, name)() {         \
    ::pybind11::module_ made(kbl_py_module(KBL_TEXT(name)));                                  \
    try {                                                                                     \
      if (made.kbl_object()) KBL_JOIN(kbl_init_, name)(made);                                 \
    } catch (const std::exception& e) {                                                       \
      return kbl_py_failed_import(made.kbl_object(), e.what());                               \
    }                                                                                         \
    return made.kbl_object();                                                                 \
  }                                                                                           \
  static void KBL_JOIN(kbl_init_, name)([[maybe_unused]] ::pybind11::module_ & variable)
