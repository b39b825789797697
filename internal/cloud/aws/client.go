package aws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// service is a service of AWS of which a driver needs a handful of requests: a client makes them, since the SDK's clients would add about half a megabyte
// each to a binary.
type service struct {
	// name is the service's name in host names and signatures, label the one in metrics and errors, and version that of its API.
	name, label, version string
	// unsigned is true if the requests prove who sends them by a parameter.
	unsigned bool
}

func (s service) operation(name string, e effect, about ...string) operation {
	return operation{service: s.label, name: name, effect: e, about: about}
}

// client makes requests to services of one region. Its errors are for classify.
type client struct {
	http        *http.Client
	credentials aws.CredentialsProvider // nil for services without signatures
	signer      *v4.Signer
	region      string
	endpoint    string // of all services; empty means AWS' own
	userAgent   string
}

// newClient returns a client with the region, address and credentials of an SDK configuration.
func newClient(httpClient *http.Client, config aws.Config) *client {
	return &client{
		http: httpClient, credentials: config.Credentials, signer: v4.NewSigner(), region: config.Region,
		endpoint: aws.ToString(config.BaseEndpoint), userAgent: config.AppID,
	}
}

// answer is a complete response.
type answer struct {
	status  int
	header  http.Header
	content []byte
}

func (a answer) failed() bool { return a.status >= http.StatusBadRequest }

// send signs a request, and reads its response. The path is that of the URL without the slash at its begin.
func (c *client) send(ctx context.Context, to service, method, path string, query url.Values, contentType, body string) (answer, error) {
	endpoint, err := c.endpointOf(ctx, to)
	if err != nil {
		return answer{}, err
	}
	address := endpoint + "/" + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	request, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(body))
	if err != nil {
		return answer{}, err
	}
	request.Header.Set("Content-Type", contentType)
	if c.userAgent != "" {
		request.Header.Set("User-Agent", c.userAgent)
	}
	if err := c.sign(ctx, to, request, body); err != nil {
		return answer{}, err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	return answer{status: response.StatusCode, header: response.Header, content: content}, err
}

// endpointOf returns a service's address. The SDK knows the domains of AWS' partitions: those of other services differ from EC2's in the first label only.
func (c *client) endpointOf(ctx context.Context, to service) (string, error) {
	if c.endpoint != "" {
		return strings.TrimSuffix(c.endpoint, "/"), nil
	}
	resolved, err := ec2.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, ec2.EndpointParameters{Region: aws.String(c.region)})
	if err != nil {
		return "", fmt.Errorf("finding the address of %s in region %q: %w", to.name, c.region, err)
	}
	domain, found := strings.CutPrefix(resolved.URI.Host, "ec2.")
	if !found {
		return "", fmt.Errorf("finding the address of %s in region %q: EC2's is %s", to.name, c.region, resolved.URI.Host)
	}
	return "https://" + to.name + "." + domain, nil
}

func (c *client) sign(ctx context.Context, to service, request *http.Request, body string) error {
	if to.unsigned {
		return nil
	}
	credentials, err := c.credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(body))
	return c.signer.SignHTTP(ctx, credentials, request, hex.EncodeToString(hash[:]), to.name, c.region, time.Now())
}
