package manager

import (
	"context"
	"fmt"
	"io"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// listMetricsCommand is the flag with which every binary prints its metrics.
const listMetricsCommand = "list-metrics"

// Command is a flag with which a garden binary prints something and exits, like --help.
type Command struct {
	// Name is the name of the flag, without dashes. Usage is a sentence for --help.
	Name, Usage string
	// Run writes its output to out. garden is a client for the garden, without a cache.
	Run func(ctx context.Context, garden client.Client, out io.Writer) error
}

// commandFlags returns the flags of all commands.
func (c *config) commandFlags(b Binary) []setting {
	flags := []setting{
		{name: "help", short: "h", usage: "Print this page.", parse: boolean(&c.help)},
		{name: "version", usage: "Print version, commit and date.", parse: boolean(&c.version)},
		{
			name: listMetricsCommand, parse: c.parseCommand(listMetricsCommand),
			usage: "Print the binary's own metrics as JSON: name, type, labels and help. Takes --types, all by default, and needs no cluster.",
		},
	}
	for _, command := range b.Commands {
		flags = append(flags, setting{name: command.Name, usage: command.Usage, parse: c.parseCommand(command.Name)})
	}
	return flags
}

func (c *config) parseCommand(name string) parser {
	return func(text string) error {
		requested := false
		if err := boolean(&requested)(text); err != nil || !requested {
			return err
		}
		c.command = name
		return nil
	}
}

// runCommand runs the command with a client for the garden, or for the only cluster that was configured.
func (b Binary) runCommand(ctx context.Context, cfg config, out io.Writer) error {
	path := cfg.gardenKubeconfig
	if path == "" {
		path = cfg.kubeconfig
	}
	restConfig, err := loadRESTConfig(path)
	if err != nil {
		return err
	}
	restConfig.UserAgent = userAgent(b.Name)
	scheme, err := b.newScheme()
	if err != nil {
		return err
	}
	garden, err := newUncachedClient(restConfig, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("creating client for the garden: %w", err)
	}
	for _, command := range b.Commands {
		if command.Name == cfg.command {
			return command.Run(ctx, garden, out)
		}
	}
	return nil
}
