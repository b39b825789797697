// Package seed starts a real API server that is a Gardener seed for extension controllers: etcd, kube-apiserver, Gardener's own CRDs, a user for
// each controller with exactly its rights, and an audit log of each user's writes. It must not depend on a contract.
package seed

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gardener/gardener/pkg/client/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/trellis-garden/trellis/e2e/internal/apiserver"
	"github.com/trellis-garden/trellis/e2e/internal/audit"
)

// stopTimeout bounds the end of a process.
const stopTimeout = 2 * time.Minute

// Seed is a running API server.
type Seed struct {
	// Client is an administrator's client and does not cache.
	Client client.Client
	// Kubeconfig is the path of an administrator's kubeconfig, Config its content, without client-side rate limits.
	Kubeconfig string
	Config     *rest.Config

	dir               string
	audit             audit.Log
	environment       *envtest.Environment
	gardener          string   // the source of the Gardener whose CRDs it has; empty for that of this module
	controlPlaneKinds bool     // the kinds of control planes' components
	hosting           *hosting // nothing where no control planes run
	auditPolicy       string
	restarts          bool
}

// Start starts an API server from the programs in the folder programs, and creates Gardener's CRDs. All files are in dir, which the caller
// removes after Stop.
func Start(ctx context.Context, programs, dir string, options ...Option) (*Seed, error) {
	s := &Seed{dir: dir, audit: audit.Log(filepath.Join(dir, "audit.log")), auditPolicy: auditPolicy}
	for _, option := range options {
		option(s)
	}
	if err := s.startAPIServer(programs); err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, programs); err != nil {
		return nil, errors.Join(err, s.Stop())
	}
	return s, nil
}

func (s *Seed) startAPIServer(programs string) error {
	var err error
	s.environment, err = apiserver.New(programs, apiserver.Options{Audit: s.audit, AuditPolicy: s.auditPolicy, ServiceAccounts: s.hosting != nil})
	if err != nil {
		return err
	}
	if err := s.prepareRestarts(); err != nil {
		return err
	}
	if _, err := s.environment.Start(); err != nil {
		return fmt.Errorf("starting etcd and kube-apiserver: %w", errors.Join(err, s.environment.Stop()))
	}
	return nil
}

// prepare creates a seed's objects in an API server.
func (s *Seed) prepare(ctx context.Context, programs string) error {
	s.Config = rest.CopyConfig(s.environment.Config)
	s.Config.QPS = -1
	var err error
	if s.Client, err = client.New(s.Config, client.Options{Scheme: kubernetes.SeedScheme}); err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	s.Kubeconfig = filepath.Join(s.dir, "admin.kubeconfig")
	if err := os.WriteFile(s.Kubeconfig, s.environment.KubeConfig, 0o600); err != nil {
		return fmt.Errorf("writing the administrator's kubeconfig: %w", err)
	}
	if err := s.define(ctx); err != nil {
		return err
	}
	if err := s.warmUp(ctx); err != nil {
		return err
	}
	if s.hosting != nil && !s.hosting.later {
		return s.StartHosting(ctx, programs)
	}
	return nil
}

// Etcd is the address of the seed's etcd. Another API server may use it with a prefix of its own.
func (s *Seed) Etcd() string { return s.environment.ControlPlane.Etcd.URL.String() }

// Stop stops all processes.
func (s *Seed) Stop() error {
	var failures []error
	if s.hosting != nil {
		failures = append(failures, s.hosting.stop())
	}
	if err := s.environment.Stop(); err != nil {
		failures = append(failures, fmt.Errorf("stopping etcd and kube-apiserver: %w", err))
	}
	return errors.Join(failures...)
}
