package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
)

// prometheusClient asks the Prometheus that runs in the cluster.
type prometheusClient struct{ url string }

// value evaluates a query that has one result. No result at all is an error:
// whoever asks wants to know that something is measured.
func (p prometheusClient) value(ctx context.Context, query string) (float64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+"/api/v1/query?query="+url.QueryEscape(query), nil)
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	var answer struct {
		Error string `json:"error"`
		Data  struct {
			Result []struct {
				Value [2]any `json:"value"` // time, "value"
			} `json:"result"`
		} `json:"data"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return 0, fmt.Errorf("%s: %w", query, err)
	}
	if answer.Error != "" {
		return 0, fmt.Errorf("%s: %s", query, answer.Error)
	}
	if len(answer.Data.Result) != 1 {
		return 0, fmt.Errorf("%s has %d results", query, len(answer.Data.Result))
	}
	text, _ := answer.Data.Result[0].Value[1].(string)
	return strconv.ParseFloat(text, 64)
}

// commitPath is what the new master does for its commits, seen by Prometheus.
type commitPath struct {
	perSecond, perGroup, syncsEach float64
}

func (p prometheusClient) commitPath(ctx context.Context, pod string) (commitPath, error) {
	rate := func(metric string) string { return fmt.Sprintf("sum(rate(%s{instance=%q}[30s]))", metric, pod) }
	var path commitPath
	for _, figure := range []struct {
		into  *float64
		query string
	}{
		{&path.perSecond, rate("commitd_transactions_committed_total") + " > 0"},
		{&path.perGroup, rate("commitd_commit_group_transactions_total") + " / " + rate("commitd_commit_groups_total") + " > 0"},
		{&path.syncsEach, rate("commitd_binlog_fsyncs_total") + " / " + rate("commitd_commit_group_transactions_total") + " > 0"},
	} {
		var err error
		if *figure.into, err = p.value(ctx, figure.query); err != nil {
			return commitPath{}, err
		}
	}
	return path, nil
}
