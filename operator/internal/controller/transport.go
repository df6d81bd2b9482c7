package controller

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"commitlab.dev/operator/api/v1alpha1"
	"commitlab.dev/operator/internal/cluster"
	"commitlab.dev/operator/internal/engine"
)

// transportVariable is a variable of commitd that says who must connect over TLS.
type transportVariable struct{ name, value string }

// transportVariables are all of them, as they are once every server has certificates that the others know, and before.
func transportVariables(c *v1alpha1.CommitCluster, required bool) []transportVariable {
	builtIn, clients := "NONE", "OFF"
	if required {
		builtIn = "X509"
	}
	if required && c.Spec.TLS != nil && c.Spec.TLS.RequireSecureTransport {
		clients = "ON"
	}
	return []transportVariable{{"commitd_built_in_accounts_require", builtIn}, {"require_secure_transport", clients}}
}

// noteCertificates writes down whose certificates servers have, and whether all of them do: until then nobody may be refused for
// having none, and a server that is not there yet could be one of those.
func noteCertificates(c *v1alpha1.CommitCluster, v cluster.View) {
	with := 0
	for i := range v.Servers {
		if v.Servers[i].TLSName != "" {
			with++
		}
	}
	switch {
	case c.Spec.TLS != nil:
		c.Status.Certificates = certificatesInUse(c)
	case with == 0 && !slices.ContainsFunc(v.Servers, func(s cluster.Server) bool { return s.PodUID == "" }):
		c.Status.Certificates = ""
	}
	switch {
	case c.Spec.TLS == nil:
		c.Status.CertificatesRequired = false
	case with == len(v.Servers) && with > 0:
		c.Status.CertificatesRequired = true
	}
}

// applyTransport has running servers ask for certificates, or no longer.
func (r *Reconciler) applyTransport(ctx context.Context, c *v1alpha1.CommitCluster, v cluster.View, p *cluster.Plan, a access) {
	wanted := transportVariables(c, c.Status.CertificatesRequired)
	var names, changed []string
	for _, variable := range wanted {
		names = append(names, variable.name)
	}
	reach := r.Observer.reach(c, a)
	for i := range v.Servers {
		s := &v.Servers[i]
		server := reach(s)
		if s.TLSName == "" || !s.Reachable || s.Status.Role == engine.RoleUninitialized || server == nil {
			continue
		}
		done, err := setTransport(ctx, server, names, wanted)
		if err != nil {
			p.Report(s.Name, "it cannot be told who must connect over TLS: "+err.Error())
		}
		if done {
			changed = append(changed, s.Name)
		}
	}
	if len(changed) > 0 {
		r.Recorder.Eventf(c, nil, corev1.EventTypeNormal, "TransportSet", "Reconcile", "%s = %s, %s = %s on %s",
			wanted[0].name, wanted[0].value, wanted[1].name, wanted[1].value, strings.Join(changed, ", "))
	}
}

func setTransport(ctx context.Context, server engine.Server, names []string, wanted []transportVariable) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, commandTimeout)
	defer cancel()
	values, err := server.GlobalVariables(ctx, names)
	if err != nil {
		return false, err
	}
	done := false
	for _, variable := range wanted {
		value, there := values[variable.name]
		if !there || means(value, &variable.value) {
			continue
		}
		if err := server.SetGlobal(ctx, variable.name, &variable.value); err != nil {
			return done, err
		}
		done = true
	}
	return done, nil
}
