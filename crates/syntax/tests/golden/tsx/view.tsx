import { memo, useState, type ReactNode } from 'react';
import { Button } from './button';
import * as Icons from './icons';

export interface Props {
  title: string;
  children?: ReactNode;
}

/** Shows a title. */
export const View = ({ title, children }: Props): JSX.Element => {
  const [open, setOpen] = useState<boolean>(false);
  const toggle = () => setOpen(!open);
  return (
    <section>
      <Button<string> onClick={toggle} label={format(title)} />
      <Icons.Arrow size={3}>{children}</Icons.Arrow>
    </section>
  );
};

export const Fast = memo(View);

export class Legacy extends React.Component<Props> {
  state = { count: 0 };

  render() {
    return <View title={this.props.title} />;
  }
}

export default function Page() {
  return <Fast title="page" />;
}
