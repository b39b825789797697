package manager

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/pflag"
)

// section is a group of flags under one heading of --help.
type section struct {
	title string
	flags []setting
}

// setting is one flag.
type setting struct {
	name, short string
	// value is the placeholder of the value in --help; empty for a boolean flag.
	value string
	// usage is a sentence, allowed and defaults are clauses; empty means anything, or nothing.
	usage, allowed, defaults string
	required                 bool
	parse                    parser
}

// problems collects all errors of a command line, so that one message reports them all.
type problems []string

func (p *problems) addf(format string, args ...any) { *p = append(*p, fmt.Sprintf(format, args...)) }

func (p *problems) err() error {
	if len(*p) == 0 {
		return nil
	}
	return errors.New("wrong command line:\n  " + strings.Join(*p, "\n  "))
}

// parseFlags parses the arguments into a config. Its error names all invalid flags and what is allowed. The config is returned with an error too, so
// that --help works in any case.
func parseFlags(b Binary, args []string, env environment) (config, error) {
	cfg := defaultConfig(b, env)
	var found problems

	flags := pflag.NewFlagSet(b.Name, pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.ParseErrorsAllowlist.UnknownFlags = true // they are found by findUnknown, all of them
	settings := flatten(cfg.sections(b))
	for _, s := range settings {
		define(flags, s, &found)
	}

	findUnknown(flags, args, &found)
	if err := flags.Parse(args); err != nil {
		found.addf("%v", err)
	}
	for _, arg := range flags.Args() {
		found.addf("%q: arguments without a flag are not allowed", arg)
	}
	for _, s := range settings {
		if s.required && !flags.Changed(s.name) && cfg.command == "" {
			found.addf("--%s: required; allowed: %s", s.name, s.allowed)
		}
	}
	if cfg.role == roleSecondary && !flags.Changed("leader-election-id") {
		cfg.leaderElectionID = b.Name + "-secondary-leader-election" // it must not compete with a primary in the same namespace
	}
	cfg.webhooks.SeparateGarden = cfg.gardenKubeconfig != ""
	if cfg.command == "" {
		for _, err := range cfg.check(b) {
			found.addf("%v", err)
		}
	}
	cfg.webhooks = cfg.webhooks.completed()
	return cfg, found.err()
}

func flatten(sections []section) []setting {
	var all []setting
	for _, s := range sections {
		all = append(all, s.flags...)
	}
	return all
}

func define(flags *pflag.FlagSet, s setting, found *problems) {
	flag := flags.VarPF(&flagValue{setting: s, found: found}, s.name, s.short, s.usage)
	if s.value == "" {
		flag.NoOptDefVal = "true"
	}
}

// findUnknown reports flags that do not exist. Arguments after "--" are not flags.
func findUnknown(flags *pflag.FlagSet, args []string, found *problems) {
	isValue := false
	for _, arg := range args {
		switch {
		case isValue:
			isValue = false
		case arg == "--":
			return
		case len(arg) > 1 && strings.HasPrefix(arg, "-"):
			isValue = takesNext(flags, arg, found)
		}
	}
}

// takesNext adds an error if the flag in arg does not exist, and returns whether the next argument is the flag's value.
func takesNext(flags *pflag.FlagSet, arg string, found *problems) bool {
	name, _, hasValue := strings.Cut(arg, "=")
	var flag *pflag.Flag
	if long, isLong := strings.CutPrefix(name, "--"); isLong {
		flag = flags.Lookup(long)
	} else if len(name) == len("-h") {
		flag = flags.ShorthandLookup(name[1:])
	}
	if flag == nil {
		found.addf("%s: no such flag", name)
		return false
	}
	return !hasValue && flag.NoOptDefVal == ""
}

// flagValue implements pflag.Value. It collects errors instead of returning them, since the flag set would stop at the first one.
type flagValue struct {
	setting
	found *problems
}

var _ pflag.Value = (*flagValue)(nil)

// Set implements pflag.Value.
func (v *flagValue) Set(text string) error {
	if err := v.parse(text); err != nil {
		v.found.addf("%s", v.errorMessage(text, err))
	}
	return nil
}

func (v *flagValue) errorMessage(text string, err error) string {
	message := fmt.Sprintf("--%s: %q %v", v.name, text, err)
	if v.allowed != "" {
		message += "; allowed: " + v.allowed
	}
	return message
}

// String implements pflag.Value.
func (v *flagValue) String() string { return v.defaults }

// Type implements pflag.Value.
func (v *flagValue) Type() string { return strings.ToLower(v.value) }
