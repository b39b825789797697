package gardener

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	gardenerutils "github.com/gardener/gardener/pkg/utils/gardener"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// Backup is the type of seeds' backup providers, which are simulated. It must be one that etcd-druid knows.
	Backup = "local"

	// backupRestorePort is the port of etcd-backup-restore beside an etcd.
	backupRestorePort = 8080
	// handshakeTimeout bounds how long the certificate of an etcd is looked for.
	handshakeTimeout = 10 * time.Second
)

// clientService is the name of the Service of an etcd, which etcd-druid creates.
func clientService(etcd string) string { return etcd + "-client" }

// createBackupSecret creates the Secret that gardenlet gives to an etcd for its backups, as extensions for BackupEntries do.
func createBackupSecret(ctx context.Context, cluster client.Client, entry *unstructured.Unstructured) error {
	namespace, _ := gardenerutils.ExtractShootDetailsFromBackupEntryName(entry.GetName())
	name := v1beta1constants.BackupSecretName
	if strings.HasPrefix(entry.GetName(), v1beta1constants.BackupSourcePrefix) {
		name = v1beta1constants.BackupSourcePrefix + "-" + name
	}
	if err := cluster.Get(ctx, client.ObjectKey{Name: namespace}, &corev1.Namespace{}); err != nil {
		return client.IgnoreNotFound(err) // the control plane is gone before its backups
	}
	bucket, _, _ := unstructured.NestedString(entry.Object, "spec", "bucketName")
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace, OwnerReferences: []metav1.OwnerReference{owner(entry)}},
		Data:       map[string][]byte{v1beta1constants.DataKeyBackupBucketName: []byte(bucket)},
	}
	return client.IgnoreAlreadyExists(cluster.Create(ctx, secret))
}

func owner(object client.Object) metav1.OwnerReference {
	kind := object.GetObjectKind().GroupVersionKind()
	return metav1.OwnerReference{APIVersion: kind.GroupVersion().String(), Kind: kind.Kind, Name: object.GetName(), UID: object.GetUID()}
}

// createClientService creates the Service of an etcd. It leads to snapshots, the one thing that gardenlet asks an etcd for.
func createClientService(ctx context.Context, cluster client.Client, etcd *unstructured.Unstructured, address netip.Addr) error {
	meta := metav1.ObjectMeta{
		Name: clientService(etcd.GetName()), Namespace: etcd.GetNamespace(), OwnerReferences: []metav1.OwnerReference{owner(etcd)},
	}
	service := &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Name: "server", Port: backupRestorePort}}}}
	if err := cluster.Create(ctx, service); client.IgnoreAlreadyExists(err) != nil {
		return err
	}
	endpoints := &discoveryv1.EndpointSlice{
		ObjectMeta: *meta.DeepCopy(), AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{Addresses: []string{address.String()}}},
		Ports:     []discoveryv1.EndpointPort{{Name: new("server"), Port: new(int32(backupRestorePort))}},
	}
	endpoints.Labels = map[string]string{discoveryv1.LabelServiceName: meta.Name, discoveryv1.LabelManagedBy: string(fieldOwner)}
	return client.IgnoreAlreadyExists(cluster.Create(ctx, endpoints))
}

// serveSnapshots confirms all requests for snapshots of etcds, with the certificates of their Services, until ctx ends.
func serveSnapshots(ctx context.Context, cluster client.Client, address netip.Addr) error {
	server := &http.Server{
		Addr: netip.AddrPortFrom(address, backupRestorePort).String(), ReadHeaderTimeout: handshakeTimeout,
		BaseContext: func(net.Listener) context.Context { return ctx },
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !strings.HasPrefix(r.URL.Path, "/snapshot/") {
				http.NotFound(w, r)
			}
		}),
		TLSConfig: &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
			ctx, cancel := context.WithTimeout(hello.Context(), handshakeTimeout)
			defer cancel()
			return serverCertificate(ctx, cluster, hello.ServerName)
		}},
	}
	ended := make(chan error, 1)
	go func() { ended <- server.ListenAndServeTLS("", "") }()
	select {
	case err := <-ended:
		return fmt.Errorf("serving snapshots: %w", err)
	case <-ctx.Done():
		return server.Close()
	}
}

// serverCertificate returns the certificate that gardenlet has made for the backups of an etcd, by the name of its Service.
func serverCertificate(ctx context.Context, cluster client.Client, host string) (*tls.Certificate, error) {
	service, rest, _ := strings.Cut(host, ".")
	namespace, _, _ := strings.Cut(rest, ".")
	etcd := answer{kind: etcdKind()}.object()
	name := strings.TrimSuffix(service, clientService(""))
	if err := cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, etcd); err != nil {
		return nil, err
	}
	secretName, found, _ := unstructured.NestedString(etcd.Object, "spec", "backup", "tls", "serverTLSSecretRef", "name")
	if !found {
		return nil, errors.New("it has no certificate")
	}
	secret := &corev1.Secret{}
	if err := cluster.Get(ctx, client.ObjectKey{Namespace: namespace, Name: secretName}, secret); err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(secret.Data[corev1.TLSCertKey], secret.Data[corev1.TLSPrivateKeyKey])
	return &pair, err
}
