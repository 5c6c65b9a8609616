#include "engine.hpp"
#include <memory>
#include <vector>

namespace game::core {

using Clock = std::chrono::steady_clock;

constexpr int kLimit = 10;

/// A base.
class Entity {
 public:
  virtual ~Entity() = default;
  virtual void update(double seconds) = 0;
};

/**
 * The engine.
 */
template <typename T, int N = 3>
class Engine final : public Entity, private detail::Base<T>, virtual Loggable {
 public:
  Engine();
  explicit Engine(int size) : size_(size) { init(size); }
  ~Engine() override;

  // Updates it.
  void update(double seconds) override;

  const std::string& name() const { return name_; }

  bool operator==(const Engine& other) const { return size_ == other.size_; }

  template <typename U>
  U convert() const;

  static Engine* create(std::string name);

 private:
  int size_ = 0;
  std::unique_ptr<Entity> child_;
  Entity* parent_;
};

struct Point {
  double x, y;
  double length() const { return std::sqrt(x * x + y * y); }
};

enum class Mode { Fast, Slow };

template <typename T, int N>
Engine<T, N>::Engine() : size_(N) {
  helper(N);
}

template <typename T>
concept Drawable = requires(T value) { value.draw(); };

void Point::move(double dx) {
  auto made = std::make_unique<Point>();
  Point* raw = new Point();
  auto* other = new detail::Node(1);
  made->scale(dx).apply();
  game::core::run<int>(raw);
  this->template cast<int>();
  int local = 1;
  [&](int y) { inner(y); }(3);
}

Point operator+(const Point& a, const Point& b) { return Point{a.x + b.x, a.y + b.y}; }

namespace {
void hidden() {}
}  // namespace

}  // namespace game::core

static int file_local(int x) { return x; }

std::vector<int>& shared() {
  static std::vector<int> values;
  return values;
}

int main(int argc, char** argv) {
  game::core::Point point{1, 2};
  return file_local(argc);
}
