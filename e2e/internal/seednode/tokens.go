package seednode

import (
	"context"
	"sync"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// tokens requests tokens of a pod's ServiceAccount, and renews them as a kubelet does: after 80 % of their time, and after a day at the latest.
type tokens struct {
	client client.Client
	pod    *corev1.Pod
	now    func() time.Time

	lock   sync.Mutex
	issued map[tokenKey]issuedToken
}

type tokenKey struct {
	audience string
	seconds  int64
}

type issuedToken struct {
	token string
	renew time.Time
}

func newTokens(c client.Client, pod *corev1.Pod) *tokens {
	return &tokens{client: c, pod: pod, now: time.Now, issued: map[tokenKey]issuedToken{}}
}

// token returns a valid token. While a token cannot be renewed, it returns the present one.
func (t *tokens) token(ctx context.Context, projection *corev1.ServiceAccountTokenProjection) ([]byte, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	key := tokenKey{audience: projection.Audience, seconds: 3600}
	if projection.ExpirationSeconds != nil {
		key.seconds = *projection.ExpirationSeconds
	}
	present, found := t.issued[key]
	if found && t.now().Before(present.renew) {
		return []byte(present.token), nil
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: &key.seconds,
		BoundObjectRef:    &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: t.pod.Name, UID: t.pod.UID},
	}}
	if key.audience != "" {
		request.Spec.Audiences = []string{key.audience}
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: t.pod.Namespace, Name: t.pod.Spec.ServiceAccountName}}
	now := t.now()
	if err := t.client.SubResource("token").Create(ctx, account, request); err != nil {
		if found {
			return []byte(present.token), nil
		}
		return nil, err
	}
	lifetime := request.Status.ExpirationTimestamp.Sub(now)
	t.issued[key] = issuedToken{token: request.Status.Token, renew: now.Add(min(lifetime*4/5, 24*time.Hour))}
	return []byte(request.Status.Token), nil
}
