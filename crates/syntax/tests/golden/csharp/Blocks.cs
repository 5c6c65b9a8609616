// A file in the old style: namespaces are blocks, and types in them are exports.
using System;

namespace Shop.Reports
{
    using Shop.Orders;

    internal interface IPrinter<T> where T : class
    {
        void Print(T value);
    }

    /// <summary>Prints orders.</summary>
    public class Printer : PrinterBase<Order>, IPrinter<Order>
    {
        private static readonly string Separator = "-", Other = "+";

        public override void Print(Order value)
        {
            value?.Lines?.ForEach(line => Write(line));
            base.Print(value);
            this.Flush();
            Helper.Format<Order>(value).Trim();
        }

        public static explicit operator string(Printer printer) => "printer";

        public event EventHandler Changed
        {
            add { Subscribe(value); }
            remove { }
        }
    }

    file struct Hidden { }
}

namespace Shop.Other
{
    public enum Mode { On, Off }
}
