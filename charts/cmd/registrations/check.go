package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/trellis-garden/trellis/charts/registration/landscape"
)

const checkHelp = `Usage: registrations check --kubeconfig FILE [flags]

Looks into a virtual garden and prints, for each seed, every kind and type that Gardener wants served there: for its shoots, its
backups and itself. A kind and type that nobody registers stops the whole seed: Gardener then installs, updates and removes no
extension there. So does one registration that is to be installed, also by its policy alone, whose ControllerDeployment, or a Secret
or ConfigMap that this refers to, is not there, or whose former installation is still being deleted. Bastions, and what
CloudProfiles offer beyond what is in use, are hints only.

  --kubeconfig FILE   of the virtual garden (default: as kubectl finds it, by KUBECONFIG or in the home directory)
  --context NAME      context of the kubeconfig (default: the current one)
  --manifests PATH    no virtual garden, but manifests of one: a file, or a folder with all below it; repeatable. What is registered,
                      Seeds, Shoots and whatever else is there counts, so that a landscape can be checked before it is
  --seed NAME         look at this seed only; repeatable
  --ready             fail also while a primary is not installed, healthy and rolled out: shoots that need it wait then
  --timeout D         for all that is read (default 1m)
  --help              print this page

It reads only, and needs these rights, in all namespaces:

  apiGroups: [core.gardener.cloud]
  resources: [controllerregistrations, controllerdeployments, controllerinstallations, seeds, shoots, cloudprofiles,
              backupbuckets, backupentries]
  verbs: [list]

and, where seeds name their DNS domains by Secrets instead of spec.dns.internal and spec.dns.defaults, list on secrets in the
namespaces seed-<name>; where ControllerDeployments refer to Secrets and ConfigMaps (resources), get on these in the namespace
garden. It reads metadata only. Without that it says what it could not know.
Self-hosted shoots are looked at only as far as they are seeds.

Exit codes: 0 all is registered once (with --ready: and ready), 1 something is missing, doubled or stuck, or the garden could not
be read, 2 not understood.
`

// checkFlags are what the command line says.
type checkFlags struct {
	kubeconfig, context string
	manifests, seeds    []string
	ready               bool
	timeout             time.Duration
}

func check(ctx context.Context, args []string, out io.Writer) error {
	var f checkFlags
	flags := flag.NewFlagSet("check", flag.ContinueOnError)
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "")
	flags.StringVar(&f.context, "context", "", "")
	flags.Func("seed", "", func(name string) error { f.seeds = append(f.seeds, name); return nil })
	flags.Func("manifests", "", func(path string) error { f.manifests = append(f.manifests, path); return nil })
	flags.BoolVar(&f.ready, "ready", false, "")
	flags.DurationVar(&f.timeout, "timeout", time.Minute, "")
	if err := parse(flags, args, checkHelp, out); err != nil {
		return err
	}
	if len(f.manifests) == 0 {
		return f.inspectGarden(ctx, out)
	}
	if f.kubeconfig != "" || f.context != "" {
		return usageError{errors.New("--manifests stands for a virtual garden; leave out --kubeconfig and --context")}
	}
	read, err := landscape.ReadManifests(f.manifests...)
	if err != nil {
		return err
	}
	return f.inspect(read, out)
}

func (f checkFlags) inspectGarden(ctx context.Context, out io.Writer) error {
	config, err := f.restConfig()
	if err != nil {
		return err
	}
	scheme := runtime.NewScheme()
	if err := landscape.AddToScheme(scheme); err != nil {
		return err
	}
	garden, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return fmt.Errorf("connecting to the virtual garden: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	read, err := landscape.Read(ctx, garden)
	if err != nil {
		return err
	}
	return f.inspect(read, out)
}

func (f checkFlags) restConfig() (*rest.Config, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = f.kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: f.context}
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w", err)
	}
	// A landscape has few lists, however long they are.
	config.QPS, config.Burst = -1, -1
	config.UserAgent = "trellis-registrations"
	return config, nil
}

func (f checkFlags) inspect(garden *landscape.Garden, out io.Writer) error {
	report, err := landscape.Inspect(garden, f.seeds...)
	if err != nil {
		return err
	}
	if err := landscape.Print(out, report); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	if !report.OK() || f.ready && !report.Ready() {
		return errFound
	}
	return nil
}
