package manager

import (
	"context"
	"fmt"
	"io"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Question is what a binary that works for the garden answers instead of running, like --help.
type Question struct {
	// Name is that of the flag, without dashes. Usage is a sentence for --help.
	Name, Usage string
	// Answer writes the answer to out. garden is a client without a cache for the garden.
	Answer func(ctx context.Context, garden client.Client, out io.Writer) error
}

// questionFlags are the flags for all questions that a binary answers.
func (c *config) questionFlags(b Binary) []setting {
	flags := []setting{
		{name: "help", short: "h", usage: "Print this page.", parse: boolean(&c.help)},
		{name: "version", usage: "Print version, commit and date.", parse: boolean(&c.version)},
	}
	for _, question := range b.Questions {
		flags = append(flags, setting{name: question.Name, usage: question.Usage, parse: c.parseQuestion(question.Name)})
	}
	return flags
}

func (c *config) parseQuestion(name string) parser {
	return func(text string) error {
		asked := false
		if err := boolean(&asked)(text); err != nil || !asked {
			return err
		}
		c.question = name
		return nil
	}
}

// answer asks the garden, or the only cluster that was named.
func (b Binary) answer(ctx context.Context, cfg config, out io.Writer) error {
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
	for _, question := range b.Questions {
		if question.Name == cfg.question {
			return question.Answer(ctx, garden, out)
		}
	}
	return nil
}
