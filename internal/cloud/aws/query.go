package aws

import (
	"context"
	"encoding/xml"
	"fmt"
	"maps"
	"net/http"
	"net/url"
)

// The services with the query protocol: parameters in a form, answers in XML.

func stsService() service {
	return service{name: "sts", label: "sts", version: "2011-06-15", unsigned: true}
}

func elbService() service {
	return service{name: "elasticloadbalancing", label: "elasticloadbalancing", version: "2012-06-01"}
}

func elbv2Service() service {
	return service{name: "elasticloadbalancing", label: "elasticloadbalancingv2", version: "2015-12-01"}
}

// query makes a request of the query protocol, and decodes the answer's XML into result, which may be nil.
func (c *client) query(ctx context.Context, to service, o operation, parameters url.Values, result any) error {
	form := url.Values{"Action": {o.name}, "Version": {to.version}}
	maps.Copy(form, parameters)
	got, err := c.send(ctx, to, http.MethodPost, "", nil, "application/x-www-form-urlencoded; charset=utf-8", form.Encode())
	if err != nil {
		return err
	}
	if got.failed() {
		return classified(queryError(o, got))
	}
	if result == nil {
		return nil
	}
	if err := xml.Unmarshal(got.content, result); err != nil {
		return fmt.Errorf("decoding the answer: %w", err)
	}
	return nil
}

// queryError decodes an error response. One without a code, of something between, is known by its status only.
func queryError(o operation, got answer) *ResponseError {
	var response struct {
		Code      string `xml:"Error>Code"`
		Message   string `xml:"Error>Message"`
		RequestID string `xml:"RequestId"`
	}
	if err := xml.Unmarshal(got.content, &response); err != nil || response.Code == "" {
		response.Code = fmt.Sprintf("status %d", got.status)
	}
	return &ResponseError{
		Service: o.service, Operation: o.name, Code: response.Code, Message: response.Message, Status: got.status, RequestID: response.RequestID,
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
