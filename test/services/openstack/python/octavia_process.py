"""Octavia's API and worker as one WSGI application.

In one process they can talk over oslo.messaging's in-memory transport, so no message broker is
needed. Nobody boots the amphorae, so a thread reports their health in their place, through the
code that receives the heartbeats of real ones.

Environment:
  CAUSEWAY_OCTAVIA_CONF     the configuration file
  CAUSEWAY_DOWN_MEMBERS     a file of `address:port` lines: monitored members to report as down
  CAUSEWAY_HEALTH_INTERVAL  seconds between two reports
  CAUSEWAY_AS_SHIPPED       if set, a known defect of 11.0.0 stays (see MarkAllActive)
"""
import os
import threading
import time

from oslo_config import cfg
from oslo_log import log as logging

from octavia.api import app

# Libraries import eventlet and nobody here uses it: uWSGI's threads are the system's. With eventlet's lock
# for loggers, two of them that meet at it stand still for good, and all others after them.
logging._fix_eventlet_logging = lambda: None

application = app.setup_app(
    argv=['octavia-api', '--config-file', os.environ['CAUSEWAY_OCTAVIA_CONF']])

# The controller's modules read the configuration while they are imported: not before setup_app.
from octavia.amphorae.drivers.health import heartbeat_udp  # noqa: E402
from octavia.controller.queue.v2 import consumer  # noqa: E402
from octavia.controller.worker.v2.tasks import database_tasks  # noqa: E402
from octavia.db import api as database  # noqa: E402
from octavia.db import models  # noqa: E402
from octavia.db import repositories  # noqa: E402


LOG = logging.getLogger('octavia.simulated_amphora')


class MarkAllActive(database_tasks.MarkLBActiveInDB):
    """What other versions do at the end of a create.

    11.0.0 loses the listeners on the way to its flow (ControllerWorker.run_flow drops the keyword
    arguments), so everything below a load balancer that was created in one request stays in
    PENDING_CREATE for good, although the load balancer itself becomes ACTIVE.
    """

    def __init__(self, mark_subobjects=True, **kwargs):
        super().__init__(mark_subobjects=mark_subobjects, **kwargs)


if not os.environ.get('CAUSEWAY_AS_SHIPPED'):
    database_tasks.MarkLBActiveInDB = MarkAllActive

consumer.ConsumerService(0, cfg.CONF).run()

IDLE = {'tx': 0, 'rx': 0, 'conns': 0, 'totconns': 0, 'ereq': 0}


def members_down():
    try:
        with open(os.environ['CAUSEWAY_DOWN_MEMBERS']) as lines:
            return frozenset(lines.read().split())
    except FileNotFoundError:
        return frozenset()


def member_states(session, member_ids, down):
    """What an amphora's HAProxy would say of each member, by id."""
    states = {}
    if not member_ids:
        return states
    for member in session.query(models.Member).filter(models.Member.id.in_(member_ids)):
        monitor = member.pool.health_monitor
        if monitor is None or not monitor.enabled:
            states[member.id] = 'no check'
        elif f'{member.ip_address}:{member.protocol_port}' in down:
            states[member.id] = 'DOWN'
        else:
            states[member.id] = 'UP'
    return states


def report(amphora_id, balancer, states):
    pools = {}
    for pool_id, pool in balancer.get('pools', {}).items():
        members = {m: states.get(m, 'no check') for m in pool['members']}
        dead = bool(members) and set(members.values()) == {'DOWN'}
        pools[f'{pool_id}:pool'] = {'status': 'DOWN' if dead else 'UP', 'members': members}
    listeners = {
        listener_id: {'status': 'OPEN', 'stats': IDLE}
        for listener_id, listener in balancer.get('listeners', {}).items() if listener['enabled']}
    return {'id': amphora_id, 'seq': 1, 'ver': 2, 'recv_time': time.time(),
            'listeners': listeners, 'pools': pools}


class SimulatedAmphorae:
    """Reports for every amphora whose load balancer is settled and has changed since the last time."""

    def __init__(self):
        self.receiver = heartbeat_udp.UpdateHealthDb()
        self.repository = repositories.AmphoraRepository()
        self.reported = {}

    def beat(self):
        session = database.get_session()
        down = members_down()
        allocated = [row[0] for row in
                     session.query(models.Amphora.id).filter_by(status='ALLOCATED')]
        self.reported = {a: seen for a, seen in self.reported.items() if a in allocated}
        for amphora_id in allocated:
            self.beat_one(session, amphora_id, down)

    def beat_one(self, session, amphora_id, down):
        balancer = self.repository.get_lb_for_health_update(session, amphora_id)
        if not balancer or balancer['provisioning_status'] not in ('ACTIVE', 'ERROR'):
            return
        if self.reported.get(amphora_id) == (repr(balancer), down):
            return
        ids = [m for pool in balancer.get('pools', {}).values() for m in pool['members']]
        message = report(amphora_id, balancer, member_states(session, ids, down))
        self.receiver.update_health(message, '127.0.0.1')
        updated = self.repository.get_lb_for_health_update(database.get_session(), amphora_id)
        self.reported[amphora_id] = (repr(updated), down)

    def run(self, interval):
        while True:
            time.sleep(interval)
            try:
                self.beat()
            except Exception:
                LOG.exception('a simulated heartbeat failed')


threading.Thread(
    target=SimulatedAmphorae().run,
    args=(float(os.environ['CAUSEWAY_HEALTH_INTERVAL']),),
    daemon=True).start()
