-- Names are bytes: they are data of users, and order as bytes. Moments are nanoseconds, 0 is none.

-- One row for each instance. The claim is (replica, lane, incarnation) and epoch; nobody is ('', 0, 0).
-- status: 1 void, 2 running, 3 completed, 4 failed.
create table instances (
    id          bytea primary key,
    status      smallint not null,
    epoch       bigint not null,
    replica     bytea not null default '',
    lane        bigint not null default 0,
    incarnation bigint not null default 0,
    since       bigint not null default 0,
    deployment  bytea not null default '',
    flow        bytea not null default '',
    snapshot    bytea not null default '',
    result      bytea not null default '',
    generation  bigint not null default 0,
    emitted     bigint not null default 0
) with (fillfactor = 70);
create index instances_claimed on instances (id) where incarnation <> 0 or lane <> 0 or replica <> '';

-- Open waits. An alias and a timer are columns of their wait, so they exist exactly as long as it.
create table waits (
    instance   bytea not null,
    generation bigint not null,
    element    bytea not null,
    channel    bytea not null,
    key        bytea not null,
    due        bigint not null,
    data       bytea not null,
    primary key (instance, generation)
);
create unique index waits_alias on waits (channel, key) where channel <> '';
create index waits_due on waits (due, instance, generation) where due <> 0;

-- What took effect. Its key makes check and write of a delivery one step.
create table inbox (
    channel  bytea not null,
    id       bytea not null,
    cause    bytea not null,
    instance bytea not null,
    reply    bytea not null,
    expires  bigint not null,
    primary key (channel, id)
);
create index inbox_expires on inbox (expires) where expires <> 0;

-- Records of steps: what an unknown outcome is decided by. They outlive their instance.
create table records (
    instance    bytea not null,
    epoch       bigint not null,
    cause       bytea not null,
    replica     bytea not null,
    lane        bigint not null,
    incarnation bigint not null,
    made        timestamptz not null default now(),
    primary key (instance, epoch, cause, replica, lane, incarnation)
);

create table outbox (
    instance bytea not null,
    sequence bigint not null,
    target   bytea not null,
    payload  bytea not null,
    primary key (instance, sequence)
);

-- Rows of named spaces.
create table rows (
    space   bytea not null,
    key     bytea not null,
    value   bytea not null,
    expires bigint not null,
    primary key (space, key)
);
create index rows_expires on rows (space, expires) where expires <> 0;

create sequence incarnations as bigint;
