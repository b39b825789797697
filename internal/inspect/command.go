package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/trellis-garden/trellis/internal/buildinfo"
)

// Exit codes of the command.
const (
	ExitHealthy    = 0
	ExitNotHealthy = 1
	ExitFailed     = 2
)

const defaultTimeout = 30 * time.Second

// Command is the command line.
type Command struct {
	// Name is the command's name in its help.
	Name string
	// Clouds are by the type of the Infrastructure.
	Clouds map[string]Cloud
	// Now returns the time.
	Now func() time.Time
}

// NameOf returns the name of the command whose file has the given path: a file kubectl-x is run by "kubectl x".
func NameOf(path string) string {
	name := path[strings.LastIndexAny(path, `/\`)+1:]
	name = strings.TrimSuffix(name, ".exe")
	if plugin, isPlugin := strings.CutPrefix(name, "kubectl-"); isPlugin {
		return "kubectl " + strings.ReplaceAll(plugin, "_", "-")
	}
	return name
}

// options are the parsed arguments.
type options struct {
	namespace, kubeconfig, context, output string
	timeout                                time.Duration
	help, version                          bool
}

// Run runs the command with its arguments, without its name, and returns the exit code.
func (c Command) Run(ctx context.Context, args []string, out, errOut io.Writer) int {
	o, flags, err := parse(args)
	switch {
	case o.help:
		fmt.Fprint(out, c.help(flags))
		return ExitHealthy
	case err != nil:
		fmt.Fprintf(errOut, "%s: %v\nSee %s --help.\n", c.Name, err, c.Name)
		return ExitFailed
	case o.version:
		fmt.Fprintln(out, c.Name, buildinfo.Read())
		return ExitHealthy
	}
	report, err := c.read(ctx, o)
	if err != nil {
		fmt.Fprintf(errOut, "%s: %v\n", c.Name, err)
		return ExitFailed
	}
	content, err := render(report, o.output)
	if err == nil {
		_, err = io.WriteString(out, content)
	}
	if err != nil {
		fmt.Fprintf(errOut, "%s: %v\n", c.Name, err)
		return ExitFailed
	}
	return exitCode(report)
}

func exitCode(report Report) int {
	switch {
	case len(report.Unread) > 0:
		return ExitFailed
	case report.State != StateHealthy:
		return ExitNotHealthy
	default:
		return ExitHealthy
	}
}

func parse(args []string) (options, *pflag.FlagSet, error) {
	o := options{}
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.SortFlags = false
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig of the seed; else $KUBECONFIG or ~/.kube/config, as kubectl")
	flags.StringVar(&o.context, "context", "", "context of the kubeconfig; else its current one")
	flags.StringVarP(&o.output, "output", "o", "text", "text, json or svg")
	flags.DurationVar(&o.timeout, "timeout", defaultTimeout, "how long all reads may take")
	flags.BoolVar(&o.version, "version", false, "print version, commit and date")
	flags.BoolVarP(&o.help, "help", "h", false, "print this page")
	if err := flags.Parse(args); err != nil {
		return o, flags, err
	}
	switch {
	case o.help || o.version:
		return o, flags, nil
	case flags.NArg() != 1 || flags.Arg(0) == "":
		return o, flags, fmt.Errorf("exactly one namespace of a shoot is required, e.g. shoot--dev--first, not %d arguments", flags.NArg())
	case !slices.Contains(formats(), o.output):
		return o, flags, fmt.Errorf("--output: %q is none of %s", o.output, strings.Join(formats(), ", "))
	case o.timeout <= 0:
		return o, flags, errors.New("--timeout: must be positive")
	}
	o.namespace = flags.Arg(0)
	return o, flags, nil
}

func formats() []string { return []string{"text", "json", "svg"} }

func render(report Report, format string) (string, error) {
	switch format {
	case "json":
		return JSON(report)
	case "svg":
		return SVG(report), nil
	default:
		return Text(report), nil
	}
}

func (c Command) help(flags *pflag.FlagSet) string {
	return fmt.Sprintf(`Prints what the extension objects of a shoot say: last operations and errors, requests that no controller serves, conditions, problems of
ManagedResources and machines, and the recorded resources in the cloud. It only gets and lists objects in the seed, and never Secrets.

Usage:
  %[1]s [flags] SHOOT-NAMESPACE

Example:
  %[1]s --kubeconfig seed.kubeconfig shoot--dev--first

Flags:
%[2]s
Exit codes:
  0  everything is healthy
  1  something is not, or a controller is at work
  2  the command line is wrong, or something could not be read
`, c.Name, flags.FlagUsages())
}

// read connects to the seed and reads the shoot.
func (c Command) read(ctx context.Context, o options) (Report, error) {
	config, err := loadConfig(o)
	if err != nil {
		return Report{}, err
	}
	config.UserAgent = "trellis-inspect/" + buildinfo.Read().Version
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	seed, err := dynamic.NewForConfig(config)
	if err != nil {
		return Report{}, fmt.Errorf("creating client for the seed: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout, fmt.Errorf("the seed has not answered within --timeout %s", o.timeout))
	defer cancel()
	report, err := Reader{Seed: seed, Clouds: c.Clouds}.Read(ctx, o.namespace, c.Now())
	if err != nil && ctx.Err() != nil {
		return Report{}, context.Cause(ctx)
	}
	return report, err
}

func loadConfig(o options) (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = o.kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: o.context}).ClientConfig()
	if clientcmd.IsEmptyConfig(err) {
		return nil, errors.New("there is no kubeconfig: set --kubeconfig or $KUBECONFIG to that of the seed")
	}
	if err != nil {
		return nil, fmt.Errorf("loading kubeconfig: %w", err)
	}
	return config, nil
}
