package aws

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// queryService is a service with AWS' query protocol: parameters in a form, answers in XML. The services of which a driver needs a handful of requests are used
// by queryClient: their SDK clients would add half a megabyte each to a binary.
type queryService struct {
	// name is the service's name in host names and signatures, label the one in metrics and errors, and version that of its API.
	name, label, version string
	// unsigned is true if the requests prove who sends them by a parameter.
	unsigned bool
}

func stsService() queryService {
	return queryService{name: "sts", label: "sts", version: "2011-06-15", unsigned: true}
}

func elbService() queryService {
	return queryService{name: "elasticloadbalancing", label: "elasticloadbalancing", version: "2012-06-01"}
}

func elbv2Service() queryService {
	return queryService{name: "elasticloadbalancing", label: "elasticloadbalancingv2", version: "2015-12-01"}
}

func (q queryService) operation(name string, e effect) operation {
	return operation{service: q.label, name: name, effect: e}
}

// queryClient makes requests to query services of one region.
type queryClient struct {
	http        *http.Client
	credentials aws.CredentialsProvider // nil for services without signatures
	signer      *v4.Signer
	region      string
	endpoint    string // of all services; empty means AWS' own
	userAgent   string
}

// newQueryClient returns a client with the region, address and credentials of an SDK configuration.
func newQueryClient(client *http.Client, config aws.Config) *queryClient {
	return &queryClient{
		http: client, credentials: config.Credentials, signer: v4.NewSigner(), region: config.Region,
		endpoint: aws.ToString(config.BaseEndpoint), userAgent: config.AppID,
	}
}

// do makes a request, and decodes the answer's XML into answer, which may be nil. Errors are for classify.
func (c *queryClient) do(ctx context.Context, service queryService, o operation, parameters url.Values, answer any) error {
	endpoint, err := c.endpointOf(ctx, service)
	if err != nil {
		return err
	}
	form := url.Values{"Action": {o.name}, "Version": {service.version}}
	maps.Copy(form, parameters)
	body := form.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, endpoint, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
	if c.userAgent != "" {
		request.Header.Set("User-Agent", c.userAgent)
	}
	if err := c.sign(ctx, service, request, body); err != nil {
		return err
	}
	response, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	if response.StatusCode >= http.StatusBadRequest {
		return classified(queryError(o, response.StatusCode, content))
	}
	if answer == nil {
		return nil
	}
	if err := xml.Unmarshal(content, answer); err != nil {
		return fmt.Errorf("decoding the answer: %w", err)
	}
	return nil
}

// endpointOf returns a service's address. The SDK knows the domains of AWS' partitions: those of other services differ from EC2's in the first label only.
func (c *queryClient) endpointOf(ctx context.Context, service queryService) (string, error) {
	if c.endpoint != "" {
		return c.endpoint, nil
	}
	resolved, err := ec2.NewDefaultEndpointResolverV2().ResolveEndpoint(ctx, ec2.EndpointParameters{Region: aws.String(c.region)})
	if err != nil {
		return "", fmt.Errorf("finding the address of %s in region %q: %w", service.name, c.region, err)
	}
	domain, found := strings.CutPrefix(resolved.URI.Host, "ec2.")
	if !found {
		return "", fmt.Errorf("finding the address of %s in region %q: EC2's is %s", service.name, c.region, resolved.URI.Host)
	}
	return "https://" + service.name + "." + domain + "/", nil
}

func (c *queryClient) sign(ctx context.Context, service queryService, request *http.Request, body string) error {
	if service.unsigned {
		return nil
	}
	credentials, err := c.credentials.Retrieve(ctx)
	if err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(body))
	return c.signer.SignHTTP(ctx, credentials, request, hex.EncodeToString(hash[:]), service.name, c.region, time.Now())
}

// queryError decodes an error response. One without a code, of something between, is known by its status only.
func queryError(o operation, status int, content []byte) *ResponseError {
	var response struct {
		Code      string `xml:"Error>Code"`
		Message   string `xml:"Error>Message"`
		RequestID string `xml:"RequestId"`
	}
	if err := xml.Unmarshal(content, &response); err != nil || response.Code == "" {
		response.Code = fmt.Sprintf("status %d", status)
	}
	return &ResponseError{
		Service: o.service, Operation: o.name, Code: response.Code, Message: response.Message, Status: status, RequestID: response.RequestID,
	}
}

// members returns the parameters of a list: Name.member.1 and so on.
func members(name string, values []string) url.Values {
	parameters := url.Values{}
	for i, value := range values {
		parameters.Set(fmt.Sprintf("%s.member.%d", name, i+1), value)
	}
	return parameters
}
