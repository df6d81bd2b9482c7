package cluster

import "commitlab.dev/operator/api/v1alpha1"

// roles are the labels that Services select by.
func (v *View) roles() map[string]string {
	labels := map[string]string{}
	for i := range v.Servers {
		s := &v.Servers[i]
		labels[s.Name] = v.roleOf(s)
	}
	return labels
}

func (v *View) roleOf(s *Server) string {
	switch {
	case v.keptOut(s):
		return ""
	case v.servesAsMaster(s):
		return v.masterRole(s)
	case v.servesAsReplica(s):
		return v1alpha1.RoleReplica
	case s.Reachable || v.Record.Election != nil:
		return ""
	case s.Label == v1alpha1.RoleMaster && s.Name != v.Record.Master:
		return ""
	}
	// Not reaching a server is no reason to take it from clients that may.
	return s.Label
}

// masterRole keeps the master Service empty until a new master has shown once that it takes writes: before, something in its log may
// have been acknowledged, and read, at the former one, and is not visible here yet. One that had the label and waits for its replicas
// keeps it.
func (v *View) masterRole(s *Server) string {
	if s.Label == v1alpha1.RoleMaster || !s.Status.WritesBlocked {
		return v1alpha1.RoleMaster
	}
	return ""
}
