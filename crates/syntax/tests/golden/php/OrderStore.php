<?php

declare(strict_types=1);

namespace Shop\Orders;

use Shop\Storage\Base;
use Shop\Storage\Cache as Store;
use Shop\Audit\{Trail, Log as AuditLog};
use function Shop\Math\round_money;
use function Shop\Text\{upper, lower as small};
use const Shop\DIGITS;
use Countable;

require_once __DIR__ . '/bootstrap.php';
require 'config.php';
include_once('views/helper.php');

const LIMIT = 100;
define('SHOP_VERSION', '1.0');

/**
 * Anything that keeps orders.
 */
interface OrderStore extends Countable, \IteratorAggregate
{
    /** Finds one order. */
    public function find(string $id): ?Order;
}

/** Records who changed what. */
trait Auditable
{
    private array $trail = [];

    protected function audit(string $message): void
    {
        $this->trail[] = $message;
    }
}

enum OrderState: string implements HasLabel
{
    case Open = 'open';
    case Paid = 'paid';

    public function label(): string
    {
        return ucfirst($this->value);
    }
}

abstract class Entity
{
    abstract public function id(): string;
}

/**
 * Keeps orders in memory.
 *
 * It is not safe for threads.
 */
#[Service]
final class MemoryStore extends Base implements OrderStore, Trail
{
    use Auditable, \Shop\Counting;
    use Cloning {
        Cloning::copy as protected;
    }

    public const DIGITS = 2;
    public ?string $name = null;
    private static int $count = 0;

    public function __construct(private readonly Store $cache, int $size)
    {
        parent::__construct($size);
        self::$count++;
    }

    // Finds one order.
    public function find(string $id): ?Order
    {
        $this->audit("find $id");
        if ($this->cache?->has($id)) {
            return $this->cache->get($id);
        }
        $order = new Order($id);
        static::boot($order);
        AuditLog::write(\Shop\Text\trim($id));
        return new \Shop\Orders\Draft($order);
    }

    public function count(): int
    {
        return round_money(count($this->trail));
    }
}

# Prints a report.
function report(OrderStore $store): void
{
    $print = fn (Order $order) => printf('%s', $order->id());
    $anonymous = new class($store) extends Entity implements HasLabel {
        public function id(): string
        {
            return 'none';
        }
    };
    array_map($print, namespace\all($store));
}
