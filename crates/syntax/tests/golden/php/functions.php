<?php
// Functions without a class, as templates and plugins have them.

namespace Shop\Text {
    use Shop\{Orders\Order, function Math\round};
    use Shop\A, Shop\B as C;

    /** Trims a text. */
    function trim(string $text): string
    {
        return \trim($text);
    }

    if (!function_exists('Shop\Text\lower')) {
        function lower(string $text): string
        {
            return namespace\trim(strtolower($text));
        }
    }
}

namespace {
    require dirname(__FILE__) . '/helpers.php';
    require_once("config/{$environment}.php");
    include $path;

    $callback = function () use ($path) {
        return new DateTime($path);
    };
    $object?->first()->second(...);
    Registry::instance()->add(new class {
        public function run(): void
        {
            self::walk();
        }
    });
}
