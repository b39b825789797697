// Package apiserver starts API servers: etcd and kube-apiserver as processes, from programs in a folder. No other package of this module starts
// them. It must not depend on the purpose of the cluster.
package apiserver

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/trellis-garden/trellis/e2e/internal/audit"
)

const (
	apiServer = "kube-apiserver"
	etcd      = "etcd"

	// auditLogMegabytes is so large that the log, which is read piece by piece, is never rotated. The default is 100.
	auditLogMegabytes = "1000000"

	// For a machine that compiles at the same time.
	startTimeout = 5 * time.Minute
	stopTimeout  = 2 * time.Minute
)

// Options configure an API server with an etcd of its own.
type Options struct {
	// Audit is the file of the audit log, AuditPolicy the policy. Empty for no log.
	Audit       audit.Log
	AuditPolicy string
	// ServiceAccounts makes pods need their ServiceAccount, as in any cluster.
	ServiceAccounts bool
}

// New returns an API server with an etcd of its own, which the caller starts and stops.
func New(programs string, options Options) (*envtest.Environment, error) {
	environment := &envtest.Environment{
		UseExistingCluster:       new(false),
		ControlPlaneStartTimeout: startTimeout,
		ControlPlaneStopTimeout:  stopTimeout,
	}
	server := environment.ControlPlane.GetAPIServer()
	server.Path = filepath.Join(programs, apiServer)
	if options.Audit != "" {
		policy, err := WritePolicy(options.Audit, options.AuditPolicy)
		if err != nil {
			return nil, err
		}
		server.Configure().Set("audit-policy-file", policy).Set("audit-log-path", string(options.Audit)).Set("audit-log-maxsize", auditLogMegabytes)
	}
	if options.ServiceAccounts {
		server.Configure().Disable("disable-admission-plugins") // envtest disables ServiceAccount
	}
	environment.ControlPlane.Etcd = newEtcd(programs)
	return environment, nil
}

// WritePolicy writes the policy of an audit log next to it, and returns the policy's path.
func WritePolicy(log audit.Log, policy string) (string, error) {
	path := string(log) + ".policy.yaml"
	if err := os.WriteFile(path, []byte(policy), 0o600); err != nil {
		return "", fmt.Errorf("writing an audit policy: %w", err)
	}
	return path, nil
}

// StartEtcd starts an etcd for API servers of Start. Its data are in the folder dir, its log in dir.log; the caller stops it.
func StartEtcd(programs, dir string) (*envtest.Etcd, error) { return StartEtcdAt(programs, dir, nil) }

// StartEtcdAt is StartEtcd for an address; nil for a free one of loopback.
func StartEtcdAt(programs, dir string, address *url.URL) (*envtest.Etcd, error) {
	log, err := os.Create(dir + ".log")
	if err != nil {
		return nil, fmt.Errorf("creating the log of etcd: %w", err)
	}
	started := newEtcd(programs)
	started.URL, started.DataDir, started.Out, started.Err, started.StartTimeout = address, dir, log, log, startTimeout
	if err := started.Start(); err != nil {
		return nil, fmt.Errorf("starting etcd: %w", err)
	}
	return started, nil
}

// newEtcd returns an etcd that does not wait for the disk.
func newEtcd(programs string) *envtest.Etcd {
	server := &envtest.Etcd{Path: filepath.Join(programs, etcd)}
	server.Configure().Append("unsafe-no-fsync")
	return server
}
