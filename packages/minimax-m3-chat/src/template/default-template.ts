/**
 * A chat template in our own words with the structure of MiniMax-M3's, for checkpoints that this
 * project writes itself (hash weights, demo model). A real checkpoint brings its own.
 *
 * Turns: system (root text + thinking instructions), developer (system message + tools), then the
 * dialogue. Variables: messages, tools, add_generation_prompt, thinking_mode, model_identity.
 */
export const defaultChatTemplate = `{%- set ns_tag = ']<]minimax[>[' -%}
{%- set mode = thinking_mode | default('adaptive', true) -%}
{%- if mode not in ['enabled', 'disabled', 'adaptive'] -%}
{{- raise_exception('thinking_mode must be enabled, disabled or adaptive') -}}
{%- endif -%}
{%- macro render_value(value) -%}
{%- if value is mapping -%}
{%- for key, item in value.items() -%}
{%- if item is not none -%}
{{- ns_tag + '<' + key + '>' + render_value(item) + ns_tag + '</' + key + '>' -}}
{%- endif -%}
{%- endfor -%}
{%- elif value is string -%}
{{- value -}}
{%- elif value is iterable -%}
{%- for item in value -%}
{{- ns_tag + '<item>' + render_value(item) + ns_tag + '</item>' -}}
{%- endfor -%}
{%- else -%}
{{- value | tojson -}}
{%- endif -%}
{%- endmacro -%}
{%- set state = namespace(root='You are a small model served by Altstream.', developer=none, start=0, calls=false, tool_turn=false) -%}
{%- if messages | length > 0 and messages[0].role == 'root' -%}
{%- set state.root = messages[0].content -%}
{%- set state.start = 1 -%}
{%- endif -%}
{%- if messages | length > state.start and messages[state.start].role in ['system', 'developer'] -%}
{%- set state.developer = messages[state.start].content -%}
{%- set state.start = state.start + 1 -%}
{%- endif -%}
{%- if state.developer is none -%}
{%- set state.developer = model_identity | default('You are a helpful assistant.', true) -%}
{%- endif -%}
{{- ']~!b[]~b]system\\n' + state.root + '\\n\\n<thinking_instructions>\\n' -}}
{{- 'Thoughts stand between the markers of <mm:think></mm:think> and are not part of the answer.\\n' -}}
{{- 'Thinking is ' + mode + ' for the next answer.\\n</thinking_instructions>[e~[\\n' -}}
{{- ']~b]developer\\n' + state.developer -}}
{%- if tools -%}
{{- '\\n\\n# Tools\\n\\nThese functions may be called:\\n<tools>\\n' -}}
{%- for tool in tools -%}
{{- '<tool>' + ((tool.function if tool.function is defined else tool) | tojson) + '</tool>\\n' -}}
{%- endfor -%}
{{- '</tools>\\n\\nA call names the function and has one tag per argument:\\n' -}}
{{- ns_tag + '<tool_call>\\n' + ns_tag + '<invoke name="function-name">' -}}
{{- ns_tag + '<argument-name>value' + ns_tag + '</argument-name>' + ns_tag + '</invoke>\\n' -}}
{{- ns_tag + '</tool_call>' -}}
{%- endif -%}
{{- '[e~[\\n' -}}
{%- for message in messages[state.start:] -%}
{%- if message.role != 'tool' and state.tool_turn -%}
{{- '[e~[\\n' -}}
{%- set state.tool_turn = false -%}
{%- endif -%}
{%- if message.role == 'user' -%}
{{- ']~b]user\\n' + message.content + '[e~[\\n' -}}
{%- set state.calls = false -%}
{%- elif message.role == 'assistant' -%}
{{- ']~b]ai\\n' -}}
{%- if message.reasoning_content -%}
{{- '<mm:think>' + message.reasoning_content -}}
{%- endif -%}
{{- '</mm:think>' + message.content -}}
{%- set state.calls = false -%}
{%- if message.tool_calls -%}
{%- set state.calls = true -%}
{{- '\\n' + ns_tag + '<tool_call>\\n' -}}
{%- for call in message.tool_calls -%}
{{- ns_tag + '<invoke name="' + call.function.name + '">' + render_value(call.function.arguments) + ns_tag + '</invoke>\\n' -}}
{%- endfor -%}
{{- ns_tag + '</tool_call>' -}}
{%- endif -%}
{{- '[e~[\\n' -}}
{%- elif message.role == 'tool' -%}
{%- if not state.calls -%}
{{- raise_exception('a tool message must follow an assistant message with tool_calls') -}}
{%- endif -%}
{{- '\\n' if state.tool_turn else ']~b]tool\\n' -}}
{{- '<response>' + message.content + '</response>' -}}
{%- set state.tool_turn = true -%}
{%- elif message.role not in ['root', 'system', 'developer'] -%}
{{- raise_exception('unknown role: ' + message.role) -}}
{%- endif -%}
{%- endfor -%}
{%- if state.tool_turn -%}
{{- '[e~[\\n' -}}
{%- endif -%}
{%- if add_generation_prompt -%}
{{- ']~b]ai\\n' -}}
{{- '<mm:think>' if mode == 'enabled' else ('</mm:think>' if mode == 'disabled' else '') -}}
{%- endif -%}
`;
