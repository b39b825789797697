package controlplane

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	extensionssecretsmanager "github.com/gardener/gardener/extensions/pkg/util/secret/manager"
	kubernetesutils "github.com/gardener/gardener/pkg/utils/kubernetes"
	"github.com/gardener/gardener/pkg/utils/secrets"
	secretsmanager "github.com/gardener/gardener/pkg/utils/secrets/manager"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1alpha1 "github.com/trellis-garden/trellis/apis/aws/v1alpha1"
	"github.com/trellis-garden/trellis/e2e/internal/aws"
	"github.com/trellis-garden/trellis/e2e/internal/openstack"
	"github.com/trellis-garden/trellis/e2e/internal/repo"
)

// upstreamExtension is upstream's extension of a provider: how the objects that it leaves differ from those of other providers.
type upstreamExtension struct {
	// provider is the type, and folder has the files of the objects, in testdata.
	provider, folder string
	// config is a ControlPlaneConfig for what the files have.
	config func() any
	// accounts are the ServiceAccounts of components in the shoot, and sidecars those of them with roles of sidecarRoles.
	accounts, sidecars []string
	// servers are the Services of components with a certificate, by the certificate's name.
	servers map[string]string
	// crds are the folders of the definitions of kinds in the shoot, and their number.
	crds map[string]int
	// running are the Deployments with pods after an adoption, and resources the ManagedResources.
	running, resources []string
	// removed are the objects that an adoption removes besides those of all providers, "NAMESPACE" being the shoot's.
	removed []string
	// replaced are the objects that an adoption, also one by upstream, deletes and creates anew.
	replaced []string
	// kept are objects that stay when the ControlPlane is deleted.
	kept []string
}

const snapshotCRDs = "internal/controlplane/csi/crds"

func upstreamOpenStack() upstreamExtension {
	return upstreamExtension{
		provider: openstack.Type, folder: "upstream",
		config:   func() any { return openstack.ControlPlaneConfig() },
		accounts: accounts(), sidecars: accounts()[1:],
		servers:   map[string]string{certificate: ccm},
		crds:      map[string]int{snapshotCRDs: 3},
		running:   []string{ccm, csiController, snapshotController},
		resources: managedResources(),
		removed: []string{
			"seed: ConfigMap NAMESPACE/cloud-controller-manager-dashboards",
			"seed: ManagedResource NAMESPACE/" + resourceShootWebhooks,
			"seed: Secret NAMESPACE/cloud-provider-config",
			"seed: Secret NAMESPACE/cloud-provider-disk-config",
			"seed: Secret NAMESPACE/cloud-provider-disk-config-csi",
			"shoot: Secret kube-system/cloud-provider-config", // a former name
		},
	}
}

const (
	routeController    = "aws-custom-route-controller"
	ipamController     = "aws-ipam-controller"
	balancerController = "aws-load-balancer-controller"
	balancerService    = balancerController + "-webhook-service"
)

// upstreamAWS has a shoot with routes for pods and with load balancers of Ingresses. Upstream deploys the IPAM controller without pods, though the shoot has no
// IPv6.
func upstreamAWS() upstreamExtension {
	sidecars := slices.Concat(accounts()[1:], []string{"csi-volume-modifier"})
	return upstreamExtension{
		provider: aws.Type, folder: "upstream/aws",
		config: func() any {
			return &awsv1alpha1.ControlPlaneConfig{
				TypeMeta:               metav1.TypeMeta{APIVersion: awsv1alpha1.GroupVersion().String(), Kind: "ControlPlaneConfig"},
				CloudControllerManager: &awsv1alpha1.CloudControllerManagerConfig{UseCustomRouteController: new(true)},
				LoadBalancerController: &awsv1alpha1.LoadBalancerControllerConfig{Enabled: true},
			}
		},
		accounts: append([]string{ccm, routeController, ipamController, balancerController}, sidecars...), sidecars: sidecars,
		servers:   map[string]string{certificate: ccm, balancerService: balancerService},
		crds:      map[string]int{snapshotCRDs: 3, "internal/controlplane/aws/crds": 2},
		running:   []string{ccm, routeController, balancerController, csiController, snapshotController},
		resources: append(managedResources(), resourceShootWebhooks),
		removed: []string{
			"seed: ConfigMap NAMESPACE/cloud-provider-config",
			"seed: Deployment NAMESPACE/" + ipamController, // without pods
			"seed: Role NAMESPACE/" + ipamController,
			"seed: RoleBinding NAMESPACE/" + ipamController,
			"seed: ServiceAccount NAMESPACE/" + ipamController,
			"seed: VerticalPodAutoscaler NAMESPACE/" + ipamController + "-vpa",
			"seed: Secret NAMESPACE/shoot-access-" + ipamController,
			"shoot: ClusterRole /" + ipamController,
			"shoot: ClusterRoleBinding /" + ipamController,
		},
		// They are part of another ManagedResource.
		replaced: []string{
			"shoot: MutatingWebhookConfiguration /" + balancerController + "-webhook",
			"shoot: ValidatingWebhookConfiguration /" + balancerController + "-webhook",
		},
		// Users' objects of these kinds have finalizers of a controller that is gone by then.
		kept: []string{
			"shoot: APIService /v1alpha1.elbv2.k8s.aws",
			"shoot: APIService /v1beta1.elbv2.k8s.aws",
			"shoot: CustomResourceDefinition /ingressclassparams.elbv2.k8s.aws",
			"shoot: CustomResourceDefinition /targetgroupbindings.elbv2.k8s.aws",
		},
	}
}

// identity is that of the secrets manager, and authority the name of the CA.
func (u upstreamExtension) identity() string  { return "provider-" + u.provider + "-controlplane" }
func (u upstreamExtension) authority() string { return "ca-" + u.identity() }

// certificates are the certificates for the secrets manager.
func (u upstreamExtension) certificates(namespace string) []extensionssecretsmanager.SecretConfigWithOptions {
	configs := []extensionssecretsmanager.SecretConfigWithOptions{{
		Config:  &secrets.CertificateSecretConfig{Name: u.authority(), CommonName: u.authority(), CertType: secrets.CACert},
		Options: []secretsmanager.GenerateOption{secretsmanager.Persist()},
	}}
	for _, name := range slices.Sorted(maps.Keys(u.servers)) {
		service := u.servers[name]
		configs = append(configs, extensionssecretsmanager.SecretConfigWithOptions{
			Config: &secrets.CertificateSecretConfig{
				Name: name, CommonName: service, DNSNames: kubernetesutils.DNSNamesForService(service, namespace),
				CertType: secrets.ServerCert, SkipPublishingCACertificate: true,
			},
			Options: []secretsmanager.GenerateOption{secretsmanager.SignedByCA(u.authority())},
		})
	}
	return configs
}

func (u upstreamExtension) file(t *testing.T, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("testdata", u.folder, name+".yaml"))
	require.NoError(t, err)
	return content
}

// definitions are the CRDs of other projects, which upstream's extension has in the same form.
func (u upstreamExtension) definitions(t *testing.T) (all []byte) {
	t.Helper()
	for _, path := range slices.Sorted(maps.Keys(u.crds)) {
		folder, err := repo.Path(strings.Split(path, "/")...)
		require.NoError(t, err)
		files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
		require.NoError(t, err)
		require.Len(t, files, u.crds[path])
		for _, file := range files {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			all = append(append(all, "\n---\n"...), content...)
		}
	}
	return all
}

// sidecarRoles are roles of the CSI sidecars, with a part of their rules, which is enough for the adoption.
func (u upstreamExtension) sidecarRoles() (all []byte) {
	const roles = `
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "NAME"}
rules:
- {apiGroups: [""], resources: [persistentvolumes], verbs: [get, list, watch, create, delete, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: "NAME"}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: "NAME"}
subjects:
- {kind: ServiceAccount, name: ACCOUNT, namespace: kube-system}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: "NAME", namespace: kube-system}
rules:
- {apiGroups: [coordination.k8s.io], resources: [leases], verbs: [get, watch, list, delete, update, create]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: "NAME", namespace: kube-system}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: "NAME"}
subjects:
- {kind: ServiceAccount, name: ACCOUNT, namespace: kube-system}
`
	for _, account := range u.sidecars {
		name := fmt.Sprintf("extensions.gardener.cloud:provider-%s:%s", u.provider, account)
		all = append(all, strings.NewReplacer("NAME", name, "ACCOUNT", account).Replace(roles)...)
	}
	return all
}
