package command

import (
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// setting is one flag.
type setting struct {
	name, short string
	// value is the placeholder of the value in --help; empty for a boolean flag.
	value string
	// usage is a sentence, allowed and defaults are clauses; the last two may be empty.
	usage, allowed, defaults string
	// parse stores the value. Its error follows the value in a message.
	parse func(text string) error
}

// parseFlags sets the flags that the arguments have. It returns all that is wrong, with what is allowed.
func parseFlags(settings []setting, args []string) (problems []string) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	for _, s := range settings {
		flag := flags.VarPF(&flagValue{setting: s, problems: &problems}, s.name, s.short, s.usage)
		if s.value == "" {
			flag.NoOptDefVal = "true"
		}
	}
	if err := flags.Parse(args); err != nil {
		problems = append(problems, err.Error())
	}
	for _, arg := range flags.Args() {
		problems = append(problems, fmt.Sprintf("%q: unexpected argument", arg))
	}
	return problems
}

// flagValue implements pflag.Value. It collects errors instead of returning them, since the flag set would stop at the first one.
type flagValue struct {
	setting
	problems *[]string
}

var _ pflag.Value = (*flagValue)(nil)

// Set implements pflag.Value.
func (v *flagValue) Set(text string) error {
	if err := v.parse(text); err != nil {
		message := fmt.Sprintf("--%s: %q %v", v.name, text, err)
		if v.allowed != "" {
			message += "; allowed: " + v.allowed
		}
		*v.problems = append(*v.problems, message)
	}
	return nil
}

// String implements pflag.Value.
func (v *flagValue) String() string { return v.defaults }

// Type implements pflag.Value.
func (v *flagValue) Type() string { return strings.ToLower(v.value) }

// help returns the flag's lines of --help.
func (s setting) help() string {
	var lines strings.Builder
	if s.short != "" {
		fmt.Fprintf(&lines, "  -%s,", s.short)
	} else {
		lines.WriteString(" ")
	}
	fmt.Fprintf(&lines, " --%s", s.name)
	if s.value != "" {
		fmt.Fprintf(&lines, "=%s", s.value)
	}
	fmt.Fprintf(&lines, "\n        %s\n", s.usage)
	var clauses []string
	if s.allowed != "" {
		clauses = append(clauses, "Allowed: "+s.allowed+".")
	}
	if s.defaults != "" {
		clauses = append(clauses, "Default: "+s.defaults+".")
	}
	if len(clauses) > 0 {
		fmt.Fprintf(&lines, "        %s\n", strings.Join(clauses, " "))
	}
	return lines.String()
}

func text(target *string) func(string) error {
	return func(text string) error {
		if text == "" {
			return errors.New("must not be empty")
		}
		*target = text
		return nil
	}
}

func boolean(target *bool) func(string) error {
	return func(text string) error {
		value, err := strconv.ParseBool(text)
		if err != nil {
			return errors.New("must be true or false")
		}
		*target = value
		return nil
	}
}

func oneOf(target *string, allowed ...string) func(string) error {
	return func(text string) error {
		if !slices.Contains(allowed, text) {
			return errors.New("is unknown")
		}
		*target = text
		return nil
	}
}

func address(target *string) func(string) error {
	return func(text string) error {
		_, port, err := net.SplitHostPort(text)
		if err != nil {
			return errors.New("must be an address")
		}
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return fmt.Errorf("has %q for a port", port)
		}
		*target = text
		return nil
	}
}
