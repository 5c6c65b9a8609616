//! Python, Ruby, PHP, Lua, Elixir and shell scripts.

use super::check;

#[test]
fn python_packages_names_and_dots() {
    check(
        &[
            ("shop/__init__.py", "from . import cart\nfrom .cart import Cart, models\n"),
            ("shop/cart.py", "import os\nimport numpy as np\nfrom shop import models, VERSION\nfrom .. import x\n"),
            ("shop/models/__init__.py", "from ..cart import *\nimport shop.models.order as o, shop.none\n"),
            ("shop/models/order.py", "def f():\n    from . import order, item\n    from ... import above\n"),
            ("shop/models/item.py", "import shop\nfrom shop.models.order import Order\n"),
        ],
        &[
            "shop/__init__.py -> shop/cart.py (exact)",
            "shop/cart.py -> [numpy] (external)",
            "shop/cart.py -> [os] (external)",
            "shop/cart.py -> shop/__init__.py (exact)",
            "shop/cart.py -> shop/models/__init__.py (exact)",
            "shop/cart.py -> ?.. (unresolved)",
            "shop/models/__init__.py -> shop/cart.py (exact)",
            "shop/models/__init__.py -> shop/models/order.py (exact)",
            "shop/models/__init__.py -> ?shop.none (unresolved)",
            "shop/models/order.py -> shop/models/item.py (exact)",
            "shop/models/order.py -> ?... (unresolved)",
            "shop/models/item.py -> shop/__init__.py (exact)",
            "shop/models/item.py -> shop/models/order.py (exact)",
        ],
    );
}

#[test]
fn python_roots_namespaces_and_scripts() {
    check(
        &[
            ("a/pyproject.toml", "[tool.pytest.ini_options]\npythonpath = [\"helpers\"]\n"),
            ("a/src/space/one/mod.py", "import space.two.mod\nimport space\n"),
            ("a/src/space/two/mod.py", "from space.one import mod\n"),
            ("a/helpers/fake.py", ""),
            ("a/tests/test_one.py", "import fake\nimport space.one.mod\nimport conftest\nimport logging\n"),
            ("a/tests/conftest.py", ""),
            ("scripts/logging.py", ""),
            ("scripts/run.py", "import logging\nimport step\nfrom deep import thing\n"),
            ("scripts/step.py", ""),
            ("scripts/deep/thing.py", "import step\n"),
        ],
        &[
            "a/src/space/one/mod.py -> a/src/space/two/mod.py (exact)",
            "a/src/space/one/mod.py -> [space] (external)",
            "a/src/space/two/mod.py -> a/src/space/one/mod.py (exact)",
            "a/tests/test_one.py -> a/helpers/fake.py (exact)",
            "a/tests/test_one.py -> a/src/space/one/mod.py (exact)",
            "a/tests/test_one.py -> a/tests/conftest.py (exact)",
            "a/tests/test_one.py -> [logging] (external)",
            "scripts/run.py -> scripts/logging.py (heuristic)",
            "scripts/run.py -> scripts/step.py (exact)",
            "scripts/run.py -> scripts/deep/thing.py (heuristic)",
            "scripts/deep/thing.py -> scripts/step.py (heuristic)",
        ],
    );
}

#[test]
fn python_with_two_roots_of_one_name_is_not_certain() {
    check(
        &[
            ("a/lib/__init__.py", ""),
            ("b/lib/__init__.py", ""),
            ("b/app/__init__.py", "import lib\n"),
            ("c/app/__init__.py", "import lib\nimport app\n"),
        ],
        &[
            "b/app/__init__.py -> b/lib/__init__.py (exact)",
            "c/app/__init__.py -> a/lib/__init__.py (heuristic)",
            "c/app/__init__.py -> b/lib/__init__.py (heuristic)",
        ],
    );
}

#[test]
fn ruby_requires_and_constants() {
    check(
        &[
            ("lib/shop.rb", "require_relative 'shop/cart'\nrequire 'json'\nrequire 'shop/line_item'\n"),
            ("lib/shop/cart.rb", "class Cart < Shop::LineItem\nend\n"),
            ("lib/shop/line_item.rb", "require_relative './none'\n"),
            ("app/models/user.rb", "class User\n  def f\n    UserMailer.deliver(1)\n  end\nend\n"),
            ("app/mailers/user_mailer.rb", "class UserMailer\nend\n"),
        ],
        &[
            "lib/shop.rb -> lib/shop/cart.rb (exact)",
            "lib/shop.rb -> [json] (external)",
            "lib/shop.rb -> lib/shop/line_item.rb (exact)",
            "lib/shop/cart.rb ~> lib/shop/line_item.rb (heuristic)",
            "lib/shop/line_item.rb -> ?./none (unresolved)",
            "app/models/user.rb ~> app/mailers/user_mailer.rb (heuristic)",
        ],
    );
}

#[test]
fn php_follows_composer() {
    check(
        &[
            ("composer.json", r#"{"autoload": {"psr-4": {"App\\": "src/", "App\\Tests\\": ["tests/"]}, "classmap": ["old"]}}"#),
            (
                "src/Cart.php",
                "<?php\nnamespace App;\nuse App\\Models\\{User, Item as Thing};\nuse Vendor\\Package\\Tool;\nuse Legacy;\nuse App\\None;\n\
                 require 'helpers.php';\nclass Cart {}\n",
            ),
            ("src/helpers.php", "<?php\n"),
            ("src/Models/User.php", "<?php\nnamespace App\\Models;\nclass User extends Base {}\n"),
            ("src/Models/Base.php", "<?php\nnamespace App\\Models;\nclass Base {}\n"),
            ("src/Models/Item.php", "<?php\nnamespace App\\Models;\nclass Item {}\n"),
            ("old/legacy.inc.php", "<?php\nclass Legacy {}\n"),
        ],
        &[
            "src/Cart.php -> src/Models/User.php (exact)",
            "src/Cart.php -> src/Models/Item.php (exact)",
            "src/Cart.php -> [Vendor] (external)",
            "src/Cart.php -> old/legacy.inc.php (exact)",
            "src/Cart.php -> ?App\\None (unresolved)",
            "src/Cart.php -> src/helpers.php (exact)",
            "src/Models/User.php ~> src/Models/Base.php (heuristic)",
        ],
    );
}

#[test]
fn lua_modules_by_name() {
    check(
        &[
            ("lua/app/init.lua", "local a = require('app.a')\nlocal s = require \"socket\"\n"),
            ("lua/app/a.lua", "require('other.b')\nrequire('twice')\n"),
            ("deep/in/other/b.lua", ""),
            ("x/twice.lua", ""),
            ("y/twice.lua", ""),
        ],
        &[
            "lua/app/init.lua -> lua/app/a.lua (exact)",
            "lua/app/init.lua -> [socket] (external)",
            "lua/app/a.lua -> deep/in/other/b.lua (heuristic)",
            "lua/app/a.lua -> x/twice.lua (heuristic)",
            "lua/app/a.lua -> y/twice.lua (heuristic)",
        ],
    );
}

#[test]
fn elixir_modules_by_name() {
    check(
        &[
            (
                "lib/shop.ex",
                "defmodule Shop do\n  alias Shop.Cart\n  alias Shop.{Item, Tax}\n  use GenServer\n  def f, do: Shop.Log.write(1)\nend\n",
            ),
            ("lib/shop/cart.ex", "defmodule Shop.Cart do\nend\n"),
            ("lib/shop/all.ex", "defmodule Shop.Item do\nend\ndefmodule Shop.Log do\n  def write(_), do: 1\nend\n"),
        ],
        &[
            "lib/shop.ex -> lib/shop/cart.ex (exact)",
            "lib/shop.ex -> lib/shop/all.ex (exact)",
            "lib/shop.ex -> ?Shop.Tax (unresolved)",
            "lib/shop.ex -> [GenServer] (external)",
            "lib/shop.ex ~> lib/shop/all.ex (heuristic)",
        ],
    );
}

#[test]
fn shell_scripts_source_files() {
    check(
        &[
            (
                "bin/run.sh",
                "source ./common.sh\n. \"$(dirname \"$0\")/lib/log.sh\"\nsource /etc/profile\nsource none.sh\nsource lib/far.sh\nsource lib/both.sh\nsource top.sh\n",
            ),
            ("bin/lib/both.sh", ""),
            ("lib/both.sh", ""),
            ("top.sh", ""),
            ("bin/common.sh", ""),
            ("bin/lib/log.sh", ""),
            ("tools/lib/far.sh", ""),
        ],
        &[
            "bin/run.sh -> bin/common.sh (exact)",
            "bin/run.sh -> bin/lib/log.sh (exact)",
            "bin/run.sh -> bin/lib/both.sh (heuristic)",
            "bin/run.sh -> lib/both.sh (heuristic)",
            "bin/run.sh -> top.sh (heuristic)",
            "bin/run.sh -> [/etc/profile] (external)",
            "bin/run.sh -> ?none.sh (unresolved)",
            "bin/run.sh -> tools/lib/far.sh (heuristic)",
        ],
    );
}
