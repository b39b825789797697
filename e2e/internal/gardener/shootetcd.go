package gardener

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	extensionsv1alpha1 "github.com/gardener/gardener/pkg/apis/extensions/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/trellis-garden/trellis/e2e/internal/apiserver"
)

// StartShootsEtcd starts the etcd of all shoots' control planes, whatever their seed. Its files are below the folder dir; the caller stops it.
func StartShootsEtcd(programs, dir string) (*envtest.Etcd, error) {
	return apiserver.StartEtcdAt(programs, filepath.Join(dir, "etcd-shoots"), etcdURL(shootsEtcd))
}

// shootPrefix is where a shoot's objects are, by the namespace of its control plane. It ends with a slash, which no namespace has.
func shootPrefix(namespace string) string { return "/registry-" + namespace + "/" }

// ShootArgs changes the arguments of the API server of a shoot: it uses the etcd of StartShootsEtcd, no VPN, and writes what its Shoot's audit policy
// records into its log. It returns nil for other
// containers. It has the signature of a function of package seednode.
func ShootArgs(pod *corev1.Pod, container *corev1.Container) ([]string, []corev1.EnvVar) {
	if container.Name != v1beta1constants.DeploymentNameKubeAPIServer {
		return nil, nil
	}
	var args []string
	if len(container.Command) > 1 {
		args = append(args, container.Command[1:]...)
	}
	var kept []string
	for _, arg := range append(args, container.Args...) {
		if !strings.HasPrefix(arg, "--etcd-") && !strings.HasPrefix(arg, "--egress-selector-config-file") && !strings.HasPrefix(arg, "--audit-log-") {
			kept = append(kept, arg)
		}
	}
	return append(
		kept, "--etcd-servers="+etcdURL(shootsEtcd).String(), "--etcd-prefix="+strings.TrimSuffix(shootPrefix(pod.Namespace), "/"), "--audit-log-path=-",
	), nil
}

// removeEtcdData removes a shoot's objects when its etcd is gone for good, and not only from this seed.
func removeEtcdData(ctx context.Context, cluster client.Client, key client.ObjectKey) error {
	if key.Name != v1beta1constants.ETCDMain {
		return nil
	}
	shoot, err := readShoot(ctx, cluster, key.Namespace)
	if err != nil || shoot == nil || shoot.DeletionTimestamp == nil {
		return err
	}
	return deletePrefix(ctx, etcdURL(shootsEtcd).String(), shootPrefix(key.Namespace))
}

// readShoot returns the metadata of the Shoot in the Cluster of a namespace; nil if there is none.
func readShoot(ctx context.Context, cluster client.Client, namespace string) (*metav1.PartialObjectMetadata, error) {
	found := answer{kind: extensionsv1alpha1.SchemeGroupVersion.WithKind(extensionsv1alpha1.ClusterResource)}.object()
	if err := cluster.Get(ctx, client.ObjectKey{Name: namespace}, found); err != nil {
		if apierrors.IsNotFound(err) {
			return nil, nil
		}
		return nil, err
	}
	content, err := json.Marshal(found.Object["spec"])
	if err != nil {
		return nil, err
	}
	var spec struct {
		Shoot metav1.PartialObjectMetadata `json:"shoot"`
	}
	if err := json.Unmarshal(content, &spec); err != nil {
		return nil, fmt.Errorf("decoding Cluster %s: %w", namespace, err)
	}
	return &spec.Shoot, nil
}

// deletePrefix deletes all keys of an etcd that begin with a prefix, which must end with a slash.
func deletePrefix(ctx context.Context, etcd, prefix string) error {
	end := strings.TrimSuffix(prefix, "/") + "0" // the character after the slash
	body, err := json.Marshal(map[string][]byte{"key": []byte(prefix), "range_end": []byte(end)})
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, etcd+"/v3/kv/deleterange", bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return fmt.Errorf("deleting %s in etcd: %w", prefix, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("deleting %s in etcd: %w", prefix, errors.New(response.Status))
	}
	return nil
}
