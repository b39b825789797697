// Package seed starts a real API server that looks like a Gardener seed to an extension controller: etcd, kube-apiserver,
// Gardener's own CRDs, a user for every controller with the rights it needs and no more, and an audit log that tells what
// each of them wrote. It must not know any contract.
package seed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gardener/gardener/pkg/client/kubernetes"
	"github.com/gardener/gardener/pkg/component"
	"github.com/gardener/gardener/pkg/component/extensions/crds"
	"golang.org/x/sync/errgroup"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

const (
	// A machine that compiles something else at the same time takes its time.
	startTimeout = 2 * time.Minute
	stopTimeout  = 30 * time.Second
)

// Seed is a running API server.
type Seed struct {
	// Client is an administrator's and does not cache.
	Client client.Client
	// Kubeconfig is the path of an administrator's kubeconfig.
	Kubeconfig string

	dir         string
	audit       string
	environment *envtest.Environment
}

// Start starts an API server from the programs in the folder programs, and installs Gardener's CRDs. Everything it writes
// goes to dir, which the caller removes after Stop.
func Start(ctx context.Context, programs, dir string) (*Seed, error) {
	s := &Seed{dir: dir, audit: filepath.Join(dir, "audit.log")}
	if err := s.startAPIServer(programs); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Seed) startAPIServer(programs string) error {
	policy := filepath.Join(s.dir, "audit-policy.yaml")
	if err := os.WriteFile(policy, []byte(auditPolicy), 0o600); err != nil {
		return fmt.Errorf("writing the audit policy: %w", err)
	}
	s.environment = &envtest.Environment{
		UseExistingCluster:       new(false),
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  stopTimeout,
	}
	apiServer := s.environment.ControlPlane.GetAPIServer()
	apiServer.Path = filepath.Join(programs, "kube-apiserver")
	apiServer.Configure().
		Set("audit-policy-file", policy).
		Set("audit-log-path", s.audit)
	s.environment.ControlPlane.Etcd = &envtest.Etcd{Path: filepath.Join(programs, "etcd")}
	s.environment.ControlPlane.Etcd.Configure().Append("unsafe-no-fsync")
	if _, err := s.environment.Start(); err != nil {
		return fmt.Errorf("starting etcd and kube-apiserver: %w", errors.Join(err, s.environment.Stop()))
	}
	return nil
}

// prepare makes a seed of a bare API server.
func (s *Seed) prepare(ctx context.Context) error {
	config := rest.CopyConfig(s.environment.Config)
	config.QPS = -1
	var err error
	if s.Client, err = client.New(config, client.Options{Scheme: kubernetes.SeedScheme}); err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	s.Kubeconfig = filepath.Join(s.dir, "admin.kubeconfig")
	if err := os.WriteFile(s.Kubeconfig, s.environment.KubeConfig, 0o600); err != nil {
		return fmt.Errorf("writing the administrator's kubeconfig: %w", err)
	}
	definitions, err := crds.NewCRD(s.Client, true, true)
	if err != nil {
		return fmt.Errorf("reading Gardener's CRDs: %w", err)
	}
	if err := component.OpWait(definitions).Deploy(ctx); err != nil {
		return fmt.Errorf("deploying Gardener's CRDs: %w", err)
	}
	return s.warmUp(ctx)
}

// warmUp lists every kind of Gardener's extensions once. The API server begins to cache a kind when it is first asked for
// it, and asks to come back in a second; for all kinds one after another that would be ten.
func (s *Seed) warmUp(ctx context.Context) error {
	definitions := &apiextensionsv1.CustomResourceDefinitionList{}
	if err := s.Client.List(ctx, definitions); err != nil {
		return fmt.Errorf("listing the CRDs: %w", err)
	}
	all, ctx := errgroup.WithContext(ctx)
	for _, definition := range definitions.Items {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(schema.GroupVersionKind{
			Group: definition.Spec.Group, Version: definition.Spec.Versions[0].Name, Kind: definition.Spec.Names.ListKind,
		})
		all.Go(func() error { return s.Client.List(ctx, list) })
	}
	if err := all.Wait(); err != nil {
		return fmt.Errorf("listing Gardener's extensions: %w", err)
	}
	return nil
}

// Stop ends both processes.
func (s *Seed) Stop() error {
	if err := s.environment.Stop(); err != nil {
		return fmt.Errorf("stopping etcd and kube-apiserver: %w", err)
	}
	return nil
}
