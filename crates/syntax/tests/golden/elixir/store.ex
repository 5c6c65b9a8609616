defmodule Shop.OrderStore do
  @moduledoc """
  Keeps orders in memory.
  """

  use GenServer
  use Shop.Audit, level: :info
  import Ecto.Query, only: [from: 2, where: 3]
  import Shop.Math
  alias Shop.Storage.Cache
  alias Shop.Storage.Base, as: Store
  alias Shop.{Order, Audit.Trail, Money}
  alias __MODULE__.Entry
  require Logger

  @behaviour Shop.Store
  @behaviour GenServer

  @digits 2
  @typedoc "The id of an order."
  @type id :: String.t()
  @opaque secret :: binary

  @callback price(Order.t()) :: integer

  defstruct [:id, total: 0]

  @doc """
  Starts a store.
  """
  @spec start_link(keyword) :: GenServer.on_start()
  def start_link(options) do
    GenServer.start_link(__MODULE__, options, name: __MODULE__)
  end

  @impl true
  def init(_options), do: {:ok, %{}}

  @doc "Finds one order."
  def find(store, id) when is_binary(id) do
    Logger.info("find #{id}")
    store |> Map.get(id) |> format_order()
    load(id) || Store.fetch!(id)
  end

  def find(_store, id) when is_integer(id), do: find(nil, to_string(id))

  # Loads an order.
  defp load(id) do
    with {:ok, order} <- Cache.get(id),
         true <- valid?(order) do
      order
    else
      _ -> raise ArgumentError, "missing"
    end
  end

  defmacro traced(name, do: block) do
    quote do
      Trail.record(unquote(name))
      unquote(block)
    end
  end

  defmacrop internal(value), do: value

  defguard is_large(order) when order.total > @digits

  defdelegate count(store), to: Cache, as: :size

  def left <~> right, do: Money.add(left, right)

  def version, do: "1.0"

  defp each(fun, items), do: Enum.map(items, &line(&1)) |> fun.()

  defmodule Entry do
    # One entry.
    defstruct [:key]

    def touch(%__MODULE__{} = entry), do: :erlang.phash2(entry)
  end

  defexception message: "broken"
end

defprotocol Shop.Priced do
  @doc "Computes a price."
  def price(value)
end

defimpl Shop.Priced, for: Shop.Order do
  def price(order), do: order.total
end
