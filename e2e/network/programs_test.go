package network

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/trellis-garden/trellis/e2e/internal/assets"
	"github.com/trellis-garden/trellis/e2e/internal/audit"
	"github.com/trellis-garden/trellis/e2e/internal/clusters/clusterstest"
	"github.com/trellis-garden/trellis/e2e/internal/process"
	"github.com/trellis-garden/trellis/e2e/internal/workload"
)

const (
	typhaAccount       = "calico-typha"
	controllersAccount = "calico-kube-controllers"
)

// testPrograms runs Calico's own programs (v3.28.5) as the Deployments in the shoot say, with the rights that their ServiceAccounts
// have there.
func testPrograms(t *testing.T, env *environment) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	programs, err := assets.Ensure(t.Context(), os.Stderr, assets.Calico()...)
	require.NoError(t, err)
	defer func() { // which would explain whatever else goes wrong
		for _, account := range []string{typhaAccount, controllersAccount} {
			refused, err := env.Cluster.AuditLog().Forbidden(audit.UserOf(metav1.NamespaceSystem, account))
			require.NoError(t, err)
			assert.Empty(t, refused, account)
		}
	}()
	health := freePort(t)
	typhas := env.run(t, workload.Run{
		Deployment: typha, Container: typhaAccount, Program: filepath.Join(programs, "calico-typha"),
		Env: map[string]string{
			"KUBECONFIG": env.kubeconfigOf(t, typhaAccount), "TYPHA_SERVERPORT": freePort(t), "TYPHA_HEALTHPORT": health,
			"TYPHA_PROMETHEUSMETRICSPORT": freePort(t),
		},
	})
	require.NoError(t, typhas.WaitForOK(ctx, "http://localhost:"+health+"/readiness"))

	status := filepath.Join(t.TempDir(), "status.json")
	controllers := env.run(t, workload.Run{
		Deployment: controllersAccount, Container: controllersAccount, Program: filepath.Join(programs, "calico-kube-controllers"),
		Flags: map[string]string{"status-file": status},
		Env: map[string]string{
			"KUBECONFIG": env.kubeconfigOf(t, controllersAccount), "ENABLED_CONTROLLERS": "node", // loadbalancer is there since v3.30
		},
	})
	require.NoError(t, controllers.WaitFor(ctx, "readiness", func(context.Context) error { return readinessIn(status) }))
	configuration := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "crd.projectcalico.org/v1", "kind": "KubeControllersConfiguration", "metadata": map[string]any{"name": "default"},
	}}
	clusterstest.Eventually(t, "what Calico's controllers do is written down", func() bool {
		return clusterstest.Get(t, env.Cluster.Client, configuration)
	})
	typhas.Stop()
	controllers.Stop()
	env.logUnusedRights(t, typhaAccount)
	env.logUnusedRights(t, controllersAccount)
}

func (env *environment) run(t *testing.T, run workload.Run) *workload.Container {
	t.Helper()
	run.Namespace, run.Dir = metav1.NamespaceSystem, filepath.Join(t.TempDir(), run.Deployment)
	container, err := workload.RunContainer(t.Context(), env.Cluster.Client, run)
	require.NoError(t, err)
	t.Cleanup(func() {
		container.Stop()
		if output, err := container.Output(); t.Failed() && err == nil {
			t.Log(output[max(0, len(output)-4000):])
		}
	})
	return container
}

func (env *environment) kubeconfigOf(t *testing.T, account string) string {
	t.Helper()
	path, err := env.Cluster.KubeconfigOf(t.Context(), account)
	require.NoError(t, err)
	return path
}

func freePort(t *testing.T) string {
	t.Helper()
	address, err := process.FreeAddress()
	require.NoError(t, err)
	_, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	return port
}

// readinessIn reads what the probes of Calico's controllers do.
func readinessIn(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var status struct {
		Readiness map[string]struct {
			Ready  bool
			Reason string
		}
	}
	if err := json.Unmarshal(content, &status); err != nil {
		return err
	}
	if len(status.Readiness) == 0 {
		return errors.New("nothing is said")
	}
	for what, condition := range status.Readiness {
		if !condition.Ready {
			return errors.New(what + ": " + condition.Reason)
		}
	}
	return nil
}

// logUnusedRights lists the rights that a program has not used: some are for what newer ones do, or for what did not happen here.
func (env *environment) logUnusedRights(t *testing.T, account string) {
	t.Helper()
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: account}}
	require.True(t, clusterstest.Get(t, env.Cluster.Client, role))
	for _, rule := range role.Rules {
		for _, resource := range rule.Resources {
			var unused []string
			for _, verb := range rule.Verbs {
				used, err := env.Cluster.AuditLog().Used(audit.UserOf(metav1.NamespaceSystem, account), verb, rule.APIGroups[0], resource)
				require.NoError(t, err)
				if !used {
					unused = append(unused, verb)
				}
			}
			if len(unused) > 0 {
				t.Logf("%s has not used: %s %v", account, resource, unused)
			}
		}
	}
}
