package snippet

import (
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// addFlags are the flags of the commands with which Claude Code, Gemini CLI and Codex add a server.
// All of them take a value.
var addFlags = map[string]string{
	"-t": "--transport", "--transport": "--transport", "-e": "--env", "--env": "--env", "-H": "--header", "--header": "--header",
	"-s": "--scope", "--scope": "--scope", "--url": "--url", "--client-id": "--client-id",
}

// isAdd reports whether a command line adds a server to another program.
func isAdd(list []string) bool {
	return len(list) > 1 && list[1] == "--add-mcp" || len(list) > 2 && list[1] == "mcp" && (list[2] == "add" || list[2] == "add-json")
}

// parseAdd reads a command line that adds a server to another program:
//
//	claude mcp add [FLAG]... NAME [--] COMMAND|ADDRESS [ARGUMENT]...   and so gemini and codex
//	claude mcp add-json [FLAG]... NAME JSON
//	code --add-mcp JSON
//
// Flags stand anywhere before --, and -- before or after the name. The scope is not needed.
func parseAdd(list []string) ([]protocol.FoundServer, error) {
	if list[1] == "--add-mcp" {
		return parseJSON(strings.Join(list[2:], " "))
	}
	args, flags, err := splitAdd(list[3:])
	switch {
	case err != nil:
		return nil, err
	case len(args) == 0:
		return nil, bad("The name of the server is missing.")
	}
	if list[2] == "add-json" {
		found, err := parseJSON(strings.Join(args[1:], " "))
		if err == nil {
			found[0].Name = Name(args[0])
		}
		return found, err
	}
	spec, err := specOfAdd(args[1:], flags)
	if err != nil {
		return nil, err
	}
	return []protocol.FoundServer{{Name: Name(args[0]), Spec: clean(spec)}}, nil
}

// splitAdd separates the flags, by their long names, from the other words.
func splitAdd(list []string) (args []string, flags map[string][]string, err error) {
	flags = make(map[string][]string)
	for i := 0; i < len(list); i++ {
		if list[i] == "--" {
			return append(args, list[i+1:]...), flags, nil
		}
		if !strings.HasPrefix(list[i], "-") {
			args = append(args, list[i])
			continue
		}
		flag, value, hasValue := strings.Cut(list[i], "=")
		name := addFlags[flag]
		if name == "" {
			return nil, nil, bad(fmt.Sprintf("Fairlead does not know the flag %s of this command. Flags of the server itself must come after --.", flag))
		}
		if !hasValue {
			if i++; i == len(list) {
				return nil, nil, bad("The flag " + flag + " needs a value.")
			}
			value = list[i]
		}
		flags[name] = append(flags[name], value)
		for name == "--env" && i+1 < len(list) && assignment.MatchString(list[i+1]) { // -e A=1 B=2
			i++
			flags[name] = append(flags[name], list[i])
		}
	}
	return args, flags, nil
}

// specOfAdd makes the settings of a server out of the words after its name, and the flags.
func specOfAdd(args []string, flags map[string][]string) (spec protocol.ServerSpec, err error) {
	if spec.Env, err = pairs(flags["--env"], "=", "--env"); err != nil {
		return spec, err
	}
	if spec.Headers, err = pairs(flags["--header"], ":", "--header"); err != nil {
		return spec, err
	}
	spec.ClientID = last(flags["--client-id"])
	if address := last(flags["--url"]); address != "" {
		args = append([]string{address}, args...)
	}
	if len(args) == 0 {
		return spec, bad("The command or the address of the server is missing.")
	}
	transport := last(flags["--transport"])
	switch {
	case !slices.Contains([]string{"", "stdio", "http", "streamable-http", "sse"}, transport):
		return spec, bad(fmt.Sprintf("--transport must be stdio, http or sse, not %q.", transport))
	case transport == "stdio" || transport == "" && !isAddress(args[0]):
		spec.Command, spec.Args = args[0], args[1:]
	case !isAddress(args[0]):
		return spec, bad(fmt.Sprintf("--transport %s needs a web address, not %q.", transport, args[0]))
	case len(args) > 1:
		return spec, bad(fmt.Sprintf("%q after the address is not a flag: quote values that contain blanks.", args[1]))
	default:
		spec.URL = args[0]
	}
	return spec, nil
}

// last returns the last value of a flag, which is the one that counts, or "".
func last(values []string) string { return append([]string{""}, values...)[len(values)] }

// pairs splits the names and the values of a flag that can be repeated.
func pairs(list []string, separator, flag string) (out map[string]string, err error) {
	for _, text := range list {
		name, value, ok := strings.Cut(text, separator)
		if !ok || name == "" {
			return nil, bad(fmt.Sprintf("%s must have the form NAME%sVALUE, not %q.", flag, separator, text))
		}
		if out == nil {
			out = make(map[string]string)
		}
		out[name] = strings.TrimSpace(value)
	}
	return out, nil
}
