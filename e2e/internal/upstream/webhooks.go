package upstream

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"slices"
	"sync"
	"time"

	extensionswebhook "github.com/gardener/gardener/extensions/pkg/webhook"
	gardencorev1beta1 "github.com/gardener/gardener/pkg/apis/core/v1beta1"
	v1beta1constants "github.com/gardener/gardener/pkg/apis/core/v1beta1/constants"
	"github.com/gardener/gardener/pkg/component/nodemanagement/machinecontrollermanager"
	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	certutil "k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// Webhooks simulates the webhooks in the pods of provider-openstack: each starting pod registers them, and nothing removes them. They are
// served while such a pod runs. The only implemented one adds a machine controller to machine-controller-manager.
type Webhooks struct {
	client client.Client
	image  string
	config *admissionregistrationv1.MutatingWebhookConfiguration
	server *http.Server
	end    context.CancelFunc
	done   sync.WaitGroup

	lock    sync.Mutex
	serving bool
	calls   int
	err     error
}

// StartWebhooks starts the simulation in a seed whose API server reaches this process by address. The image is that of a machine controller.
func StartWebhooks(ctx context.Context, seed client.Client, address, image string) (*Webhooks, error) {
	certificate, key, err := certutil.GenerateSelfSignedCertKey(address, []net.IP{net.ParseIP(address)}, nil)
	if err != nil {
		return nil, fmt.Errorf("making a certificate for webhooks: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, fmt.Errorf("making a certificate for webhooks: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", net.JoinHostPort(address, "0"))
	if err != nil {
		return nil, fmt.Errorf("listening for the API server: %w", err)
	}
	w := &Webhooks{client: seed, image: image, config: configuration("https://"+listener.Addr().String(), certificate)}
	hook := &admission.Webhook{Handler: admission.HandlerFunc(w.mutate)}
	w.server = &http.Server{Handler: w.whileServing(hook), ReadHeaderTimeout: 10 * time.Second}
	secured := tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12})
	w.done.Go(func() { _ = w.server.Serve(secured) })
	ctx, w.end = context.WithCancel(context.WithoutCancel(ctx))
	w.done.Go(func() { w.run(ctx) })
	return w, nil
}

// Calls is the number of answered requests.
func (w *Webhooks) Calls() int {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.calls
}

// Stop stops it, and returns its error.
func (w *Webhooks) Stop() error {
	w.end()
	_ = w.server.Close()
	w.done.Wait()
	return w.err
}

func configuration(address string, ca []byte) *admissionregistrationv1.MutatingWebhookConfiguration {
	return &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: ProviderOpenStackDeployment},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:                    "controlplane.openstack.extensions.gardener.cloud",
			AdmissionReviewVersions: []string{"v1"},
			ClientConfig:            admissionregistrationv1.WebhookClientConfig{URL: &address, CABundle: ca},
			SideEffects:             new(admissionregistrationv1.SideEffectClassNone),
			FailurePolicy:           new(admissionregistrationv1.Fail),
			TimeoutSeconds:          new(int32(10)),
			NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{
				{Key: v1beta1constants.LabelShootProvider, Operator: metav1.LabelSelectorOpIn, Values: []string{"openstack"}},
			}},
			ObjectSelector: &metav1.LabelSelector{MatchLabels: map[string]string{
				v1beta1constants.LabelExtensionProviderMutatedByControlplaneWebhook: "true",
			}},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update},
				Rule:       admissionregistrationv1.Rule{APIGroups: []string{"apps"}, APIVersions: []string{"v1"}, Resources: []string{"deployments"}},
			}},
		}},
	}
}

// run watches the pods. Each registers the webhooks once, when it starts.
func (w *Webhooks) run(ctx context.Context) {
	started := map[string]bool{}
	for ; ctx.Err() == nil; sleep(ctx, 300*time.Millisecond) {
		pods := &corev1.PodList{}
		if err := w.client.List(ctx, pods, client.MatchingLabels{"app.kubernetes.io/name": ProviderOpenStackDeployment}); err != nil {
			w.recordError(ctx, fmt.Errorf("listing the pods of %s: %w", ProviderOpenStack, err))
			continue
		}
		serving := false
		for _, pod := range pods.Items {
			if pod.Status.Phase != corev1.PodRunning || slices.Contains(pod.Spec.Containers[0].Args, "--disable-webhooks=*") {
				continue
			}
			serving = true
			if !started[string(pod.UID)] && pod.DeletionTimestamp == nil {
				if err := w.register(ctx, pod.Namespace); err != nil {
					w.recordError(ctx, err)
					continue
				}
				started[string(pod.UID)] = true
			}
		}
		w.lock.Lock()
		w.serving = serving
		w.lock.Unlock()
	}
}

// register creates the webhook configurations, which are owned by the namespace of the extension.
func (w *Webhooks) register(ctx context.Context, namespace string) error {
	owner := &corev1.Namespace{}
	if err := w.client.Get(ctx, client.ObjectKey{Name: namespace}, owner); err != nil {
		return fmt.Errorf("reading the namespace of %s: %w", ProviderOpenStack, err)
	}
	config := w.config.DeepCopy()
	config.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner, corev1.SchemeGroupVersion.WithKind("Namespace"))}
	if err := w.client.Create(ctx, config); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("registering webhooks: %w", err)
	}
	return nil
}

func sleep(ctx context.Context, duration time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(duration):
	}
}

func (w *Webhooks) recordError(ctx context.Context, err error) {
	if ctx.Err() == nil {
		w.lock.Lock()
		w.err = err
		w.lock.Unlock()
	}
}

// whileServing answers only while a pod runs.
func (w *Webhooks) whileServing(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(writer http.ResponseWriter, request *http.Request) {
		w.lock.Lock()
		serving := w.serving
		if serving {
			w.calls++
		}
		w.lock.Unlock()
		if !serving {
			http.Error(writer, "nobody serves webhooks", http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(writer, request)
	})
}

// mutate adds the machine controller.
func (w *Webhooks) mutate(_ context.Context, request admission.Request) admission.Response {
	if request.Name != v1beta1constants.DeploymentNameMachineControllerManager || request.Operation == admissionv1.Delete {
		return admission.Allowed("")
	}
	deployment := &appsv1.Deployment{}
	if err := json.Unmarshal(request.Object.Raw, deployment); err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	pod := &deployment.Spec.Template.Spec
	pod.Containers = extensionswebhook.EnsureContainerWithName(pod.Containers, machinecontrollermanager.ProviderSidecarContainer(
		&gardencorev1beta1.Shoot{}, deployment.Namespace, "provider-openstack", w.image,
	))
	changed, err := json.Marshal(deployment)
	if err != nil {
		return admission.Errored(http.StatusInternalServerError, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, changed)
}
