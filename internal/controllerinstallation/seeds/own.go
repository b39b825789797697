package seeds

import (
	"context"
	"fmt"

	"k8s.io/client-go/rest"
)

// Own returns the access of a process that runs in a seed and serves it alone. It makes no connection yet. Files that the configuration names, like
// the token of a pod, are read again by client-go.
func Own(seed string, config *rest.Config, options Options) (*Lines, error) {
	return newLines(&own{seed: seed, config: config}, options.withDefaults())
}

// own is the source for the one seed.
type own struct {
	seed   string
	config *rest.Config
}

// credentials implements source.
func (o *own) credentials(_ context.Context, seed string, former *credentials) (*credentials, error) {
	switch {
	case seed != o.seed:
		return nil, &noAccessError{fmt.Sprintf("this process serves seed %s alone", o.seed)}
	case former != nil:
		return former, nil
	}
	return &credentials{source: "this process", config: o.config}, nil
}
