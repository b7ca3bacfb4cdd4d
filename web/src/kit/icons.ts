// The icons of the dashboard, by their names in Lucide. A name added here is in the next build.
export const icons = [
  'activity', 'archive', 'arrow-down', 'arrow-left', 'arrow-right', 'arrow-up', 'arrow-up-down', 'arrow-up-right',
  'at-sign', 'ban', 'bell', 'binary', 'book-open', 'boxes', 'braces', 'brackets', 'calendar', 'calendar-clock', 'chart-line',
  'check', 'check-check', 'chevron-down', 'chevron-left', 'chevron-right', 'chevron-up', 'chevrons-left', 'chevrons-right',
  'chevrons-up-down', 'circle', 'circle-alert', 'circle-check', 'circle-question-mark', 'circle-stop', 'circle-user', 'circle-x',
  'clipboard-paste', 'clock', 'code', 'columns-3', 'columns-3-cog', 'command', 'contact', 'copy', 'copy-plus', 'corner-down-left',
  'cpu', 'database', 'database-zap', 'download', 'ellipsis', 'ellipsis-vertical', 'external-link', 'eye', 'eye-off',
  'file', 'file-code', 'file-json', 'file-text', 'file-up', 'filter', 'fingerprint-pattern', 'flask-conical', 'folder', 'function-square', 'gauge',
  'globe', 'grid-3x3', 'grip-vertical', 'hard-drive', 'hash', 'heart-pulse', 'history', 'house', 'hourglass', 'inbox', 'info', 'key',
  'key-round', 'keyboard', 'layers', 'layout-dashboard', 'life-buoy', 'link', 'list', 'list-filter', 'list-tree', 'loader-circle', 'lock',
  'lock-keyhole', 'lock-open', 'log-in', 'log-out', 'logs', 'mail', 'mail-check', 'mail-open', 'map', 'maximize-2', 'menu', 'message-square', 'minimize-2',
  'minus', 'monitor', 'moon', 'network', 'octagon-x', 'palette', 'panel-left', 'panel-left-close', 'panel-left-open', 'panel-right', 'panel-right-close',
  'pause', 'pencil', 'phone', 'pin', 'pin-off', 'play', 'plug', 'plus', 'power', 'qr-code', 'redo-2', 'refresh-cw', 'rotate-ccw', 'route', 'save',
  'scale', 'scroll-text', 'search', 'send', 'server', 'settings', 'settings-2', 'share-2', 'shield', 'shield-alert', 'shield-check', 'shield-off',
  'shield-user', 'sigma', 'skip-back', 'skip-forward', 'sliders-horizontal', 'smartphone', 'square', 'square-pen', 'square-terminal', 'star', 'sun', 'sun-moon',
  'table', 'table-2', 'table-properties', 'tag', 'terminal', 'text-cursor-input', 'timer', 'toggle-left', 'trash-2', 'triangle-alert', 'type',
  'undo-2', 'unlink', 'unplug', 'upload', 'user', 'user-check', 'user-cog', 'user-plus', 'user-round', 'user-x', 'users', 'view', 'waypoints', 'webhook', 'workflow',
  'wrench', 'x', 'zap', 'zoom-in', 'zoom-out',
] as const

export type IconName = (typeof icons)[number]
